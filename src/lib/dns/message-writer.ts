import type { Label } from "../../core/names/label.ts";
import type { WirePart } from "../../core/rdata/fields/field.ts";
import { dataWithNames } from "../../core/rdata/names-in-data.ts";
import { maximumMessage } from "./codes.ts";
import { NamePlaces } from "./name-places.ts";
import type { ReadName } from "./read-name.ts";

export type RecordToWrite = {
  readonly labels: readonly Label[];
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  /** Uncompressed; the writer compresses names in it if the type allows that. */
  readonly data: Uint8Array;
};

/**
 * The records of one set, each beginning with a pointer to its owner. Names in their data are compressed among
 * themselves.
 */
export type RecordBlock = {
  /** Bytes; infinite if no message could hold it. */
  readonly length: number;
  readonly bytes: Uint8Array;
  /** Where the pointers to the owner are. */
  readonly owners: Uint16Array;
  /** The position and the target of each other pointer, alternating. */
  readonly pointers: Uint16Array;
  /** The highest of these targets. */
  readonly furthest: number;
};

/** A pointer has fourteen bits. */
const pointable = 0x4000;
/** Names in a block are compressed only before this place, so that the block can begin some way into a message. */
const pointableInBlock = 0x2800;

/** The records of one owner. If no message could hold them, nothing is kept of them but that. */
export function createBlock(records: Iterable<Omit<RecordToWrite, "labels">>): RecordBlock {
  const writer = new MessageWriter(maximumMessage, undefined, pointableInBlock);
  const owners: number[] = [];
  for (const record of records) {
    owners.push(writer.length());
    writer.ownerlessRecord(record);
    if (!writer.fits()) return tooLong;
  }
  const bytes = new Uint8Array(writer.finish());
  const targetAt = (at: number) => (((bytes[at] ?? 0) & 0x3f) << 8) | (bytes[at + 1] ?? 0);
  const pointers = writer.pointers().flatMap((at) => [at, targetAt(at)]);
  const furthest = writer.pointers().reduce((highest, at) => Math.max(highest, targetAt(at)), 0);
  const { length } = bytes;
  return { length, bytes, owners: Uint16Array.from(owners), pointers: Uint16Array.from(pointers), furthest };
}

const nothing = { bytes: new Uint8Array(), owners: new Uint16Array(), pointers: new Uint16Array(), furthest: 0 };
const tooLong: RecordBlock = { ...nothing, length: Number.POSITIVE_INFINITY };

/** Writes a message from start to end. Bytes beyond the limit are dropped, and `fits` is then false. */
export class MessageWriter {
  readonly #limit: number;
  /** Names that begin here or later are not pointed to. */
  readonly #reach: number;
  readonly #places: NamePlaces;
  readonly #pointers: number[] = [];
  #buffer: Buffer;
  #at = 0;
  #overflowed = false;
  /** Most names are that of the record before. */
  #lastLabels: readonly Label[] | undefined;
  #lastPlace = 0;

  /** `scratch` is used while it is large enough, so a caller that passes one must copy the result. */
  constructor(limit = maximumMessage, scratch?: Buffer, reach = pointable) {
    this.#limit = limit;
    this.#buffer = scratch ?? Buffer.allocUnsafeSlow(Math.min(limit, 512));
    this.#reach = reach;
    this.#places = new NamePlaces(reach);
  }

  length(): number {
    return this.#at;
  }

  fits(): boolean {
    return !this.#overflowed;
  }

  /** The positions of the pointers. */
  pointers(): readonly number[] {
    return this.#pointers;
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  u8(value: number): void {
    if (this.#reserve(1)) this.#buffer[this.#at++] = value;
  }

  u16(value: number): void {
    if (this.#reserve(2)) this.#at = this.#buffer.writeUInt16BE(value, this.#at);
  }

  u32(value: number): void {
    if (this.#reserve(4)) this.#at = this.#buffer.writeUInt32BE(value, this.#at);
  }

  u16At(place: number, value: number): void {
    if (!this.#overflowed) this.#buffer.writeUInt16BE(value, place);
  }

  bytes(data: Uint8Array): void {
    if (!this.#reserve(data.length)) return;
    this.#buffer.set(data, this.#at);
    this.#at += data.length;
  }

  /**
   * Compressed: if an earlier name has the same end, a pointer to that end is written (RFC 1035 section 4.1.4).
   * `key`: the name in wire format, one character per byte, if it is at hand.
   */
  name(labels: readonly Label[], key?: string): void {
    if (labels === this.#lastLabels && this.#lastPlace > 0) return this.#writePointer(this.#lastPlace);
    const start = this.#at;
    this.#writeName(key ?? keyOf(labels));
    const { from, place } = this.#places;
    this.#lastLabels = labels;
    this.#lastPlace = from === 0 ? place : start < this.#reach ? start : 0;
  }

  record(record: RecordToWrite): void {
    this.name(record.labels);
    this.#afterOwner(record);
  }

  /** A record of a block: the pointer to its owner is filled in when the block is written into a message. */
  ownerlessRecord(record: Omit<RecordToWrite, "labels">): void {
    this.u16(0);
    this.#afterOwner(record);
  }

  /**
   * All records of a set, encoded before. They do not fit if they come too late in the message for their pointers,
   * which `pointers` leaves out.
   */
  block(labels: readonly Label[], block: RecordBlock): void {
    if (this.#overflowed || this.#at + block.length > this.#limit) {
      this.#overflowed = true;
      return;
    }
    const start = this.#at;
    this.name(labels);
    // The name takes the place of the first pointer to it; if it is such a pointer, the others point there too.
    const base = this.#at - 2;
    const owner = base === start ? this.#buffer.readUInt16BE(start) & 0x3fff : start;
    const isOutOfReach = block.pointers.length > 0 && base + block.furthest >= pointable;
    if (owner >= pointable || isOutOfReach) this.#overflowed = true;
    if (!this.#reserve(block.bytes.length - 2)) return;
    this.#buffer.set(block.bytes.subarray(2), this.#at);
    this.#at += block.bytes.length - 2;
    pointAll(this.#buffer, block, base, owner);
  }

  #reserve(count: number): boolean {
    const end = this.#at + count;
    if (this.#overflowed || end > this.#limit) {
      this.#overflowed = true;
      return false;
    }
    if (end > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(this.#buffer.length * 2, end)));
      grown.set(this.#buffer.subarray(0, this.#at));
      this.#buffer = grown;
    }
    return true;
  }

  /** A record whose data are these characters of a text, one per byte, after their length in two more. */
  packedRecord({ labels, type, class: ofClass, ttl }: Omit<RecordToWrite, "data">, text: string): void {
    this.name(labels);
    this.#head({ type, class: ofClass, ttl });
    if (this.#reserve(text.length)) this.#at += this.#buffer.write(text, this.#at, "latin1");
  }

  #head({ type, class: ofClass, ttl }: Pick<RecordToWrite, "type" | "class" | "ttl">): void {
    this.u16(type);
    this.u16(ofClass);
    this.u32(ttl);
  }

  #afterOwner(record: Omit<RecordToWrite, "labels">): void {
    this.#head(record);
    const lengthAt = this.#at;
    this.u16(0);
    this.#rdata(record.type, record.data);
    this.u16At(lengthAt, this.#at - lengthAt - 2);
  }

  #rdata(type: number, data: Uint8Array): void {
    const layout = compressibleLayout(type);
    if (layout === undefined || data.length === 0) return this.bytes(data);
    let from = 0;
    for (const part of layout) {
      if (part === "name") {
        const end = endOfName(data, from);
        this.#writeName(Buffer.from(data.buffer, data.byteOffset + from, end - from).toString("latin1"));
        from = end;
      } else if (typeof part === "number") {
        this.bytes(data.subarray(from, from + part));
        from += part;
      }
    }
    this.bytes(data.subarray(from));
  }

  #writeName(key: string): void {
    const places = this.#places;
    places.find(key);
    const { from, place } = places;
    // Without a pointer, the root's zero is written too.
    const written = place === 0 ? key.length : from;
    if (!this.#reserve(written)) return;
    places.keep(key, this.#at);
    if (written > 0)
      this.#at += this.#buffer.write(written === key.length ? key : key.slice(0, written), this.#at, "latin1");
    if (place !== 0) this.#writePointer(place);
  }

  #writePointer(place: number): void {
    this.#pointers.push(this.#at);
    this.u16(0xc000 | place);
  }
}

/** Where the pointers of a block lead, in a message in which it begins at `base`. */
function pointAll(buffer: Buffer, { owners, pointers }: RecordBlock, base: number, owner: number): void {
  const [high, low] = [0xc0 | (owner >> 8), owner & 0xff];
  for (let i = 1; i < owners.length; i++) {
    const at = base + (owners[i] ?? 0);
    buffer[at] = high;
    buffer[at + 1] = low;
  }
  for (let i = 0; i < pointers.length; i += 2) {
    const [at, to] = [base + (pointers[i] ?? 0), base + (pointers[i + 1] ?? 0)];
    buffer[at] = 0xc0 | (to >> 8);
    buffer[at + 1] = to & 0xff;
  }
}

/** A name as in the wire format, one character per byte. */
function keyOf(labels: readonly Label[]): string {
  let key = "";
  for (const label of labels) key += String.fromCharCode(label.length) + label;
  return `${key}\0`;
}

/** The data was checked when it was read, so an invalid name is a bug. */
function endOfName(data: Uint8Array, start: number): number {
  let at = start;
  for (let length = data[at] ?? 0; length !== 0; length = data[at] ?? 0) {
    if (length > 63 || at + length >= data.length) throw new Error("not the data of its type");
    at += length + 1;
  }
  return at + 1;
}

/** The parts of a type's data if moor compresses names in it; undefined otherwise. */
export function compressibleLayout(type: number): readonly WirePart[] | undefined {
  const data = dataWithNames.get(type);
  return data?.names === "compressed" ? data.parts : undefined;
}

/** Data without compression pointers. Undefined when it is not valid for its type. */
export function expandRdata(
  type: number,
  message: Uint8Array,
  place: { readonly start: number; readonly end: number },
  readName: ReadName,
): Uint8Array | undefined {
  const { start, end } = place;
  const { parts: layout, names } = dataWithNames.get(type) ?? {};
  // UPDATE messages contain records of any type without data (RFC 2136 section 2.4).
  if (layout === undefined || names === "lowered" || start === end) return new Uint8Array(message.subarray(start, end));
  const parts: Uint8Array[] = [];
  let at = start;
  for (const part of layout) {
    if (part === "name") {
      const read = readName(at, end);
      if (read === undefined) return undefined;
      parts.push(read.name.bytes);
      at = read.end;
      continue;
    }
    const length = part === "string" ? 1 + (message[at] ?? 0) : part;
    if (at + length > end) return undefined;
    parts.push(message.subarray(at, at + length));
    at += length;
  }
  return at === end ? joined(parts) : undefined;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
