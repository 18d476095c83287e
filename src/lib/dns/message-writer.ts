import type { Label } from "../../core/names/label.ts";
import { maximumMessage } from "./codes.ts";
import { NamePlaces } from "./name-places.ts";
import type { ReadName } from "./read-name.ts";

/** Writes a message from start to end. Bytes beyond the limit are dropped, and `fits` is then false. */
export type MessageWriter = {
  readonly length: () => number;
  readonly fits: () => boolean;
  readonly u8: (value: number) => void;
  readonly u16: (value: number) => void;
  readonly u32: (value: number) => void;
  readonly u16At: (at: number, value: number) => void;
  readonly bytes: (data: Uint8Array) => void;
  /** Compressed: if an earlier name has the same end, a pointer to that end is written (RFC 1035 section 4.1.4). */
  readonly name: (labels: readonly Label[]) => void;
  readonly record: (record: RecordToWrite) => void;
  /** All records of a set, encoded before. They do not fit if they come too late in the message for their pointers, which `pointers` leaves out. */
  readonly block: (labels: readonly Label[], block: RecordBlock) => void;
  /** The positions of the pointers. */
  readonly pointers: () => readonly number[];
  readonly finish: () => Buffer;
};

export type RecordToWrite = {
  readonly labels: readonly Label[];
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  /** Uncompressed; the writer compresses names in it if the type allows that. */
  readonly data: Uint8Array;
};

/** The records of one set, each beginning with a pointer to its owner. Names in their data are compressed among themselves. */
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
  const writer = createMessageWriter(maximumMessage, undefined, pointableInBlock);
  const owners: number[] = [];
  for (const record of records) {
    owners.push(writer.length());
    writer.record({ ...record, labels: [] }, true);
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

type BlockWriter = MessageWriter & { readonly record: (record: RecordToWrite, ownerLater?: boolean) => void };

/** `scratch` is used while it is large enough, so a caller that passes one must copy the result. */
export function createMessageWriter(limit = maximumMessage, scratch?: Buffer, reach = pointable): BlockWriter {
  let buffer: Buffer = scratch ?? Buffer.allocUnsafeSlow(Math.min(limit, 512));
  let at = 0;
  let overflowed = false;
  const places = new NamePlaces(reach);
  /** Most names are that of the record before. */
  let last: { readonly labels: readonly Label[] | undefined; readonly place: number } = { labels: undefined, place: 0 };
  const pointers: number[] = [];

  const reserve = (count: number): boolean => {
    if (overflowed || at + count > limit) {
      overflowed = true;
      return false;
    }
    if (at + count > buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(buffer.length * 2, at + count)));
      grown.set(buffer.subarray(0, at));
      buffer = grown;
    }
    return true;
  };
  const u8 = (value: number) => {
    if (reserve(1)) buffer[at++] = value;
  };
  const u16 = (value: number) => {
    if (reserve(2)) at = buffer.writeUInt16BE(value, at);
  };
  const u32 = (value: number) => {
    if (reserve(4)) at = buffer.writeUInt32BE(value, at);
  };
  const bytes = (data: Uint8Array) => {
    if (!reserve(data.length)) return;
    buffer.set(data, at);
    at += data.length;
  };
  const writeName = (key: string) => {
    places.find(key);
    const { from, place } = places;
    // Without a pointer, the root's zero is written too.
    const written = place === 0 ? key.length : from;
    if (!reserve(written)) return;
    places.keep(key, at);
    if (written > 0) at += buffer.write(written === key.length ? key : key.slice(0, written), at, "latin1");
    if (place !== 0) writePointer(place);
  };
  const writePointer = (place: number) => {
    pointers.push(at);
    u16(0xc000 | place);
  };
  const name = (labels: readonly Label[]) => {
    if (labels === last.labels && last.place > 0) return writePointer(last.place);
    const start = at;
    writeName(keyOf(labels));
    last = { labels, place: places.from === 0 ? places.place : start < reach ? start : 0 };
  };
  const rdata = (type: number, data: Uint8Array) => {
    const layout = compressibleLayout(type);
    if (layout === undefined || data.length === 0) return bytes(data);
    let from = 0;
    for (const part of layout) {
      if (part === "name") {
        const end = endOfName(data, from);
        writeName(Buffer.from(data.buffer, data.byteOffset + from, end - from).toString("latin1"));
        from = end;
      } else if (typeof part === "number") {
        bytes(data.subarray(from, from + part));
        from += part;
      }
    }
    bytes(data.subarray(from));
  };
  const u16At = (place: number, value: number) => {
    if (!overflowed) buffer.writeUInt16BE(value, place);
  };
  const record = (written: RecordToWrite, ownerLater = false) => {
    if (ownerLater) u16(0);
    else name(written.labels);
    u16(written.type);
    u16(written.class);
    u32(written.ttl);
    const lengthAt = at;
    u16(0);
    rdata(written.type, written.data);
    u16At(lengthAt, at - lengthAt - 2);
  };
  const block = (labels: readonly Label[], written: RecordBlock) => {
    if (overflowed || at + written.length > limit) {
      overflowed = true;
      return;
    }
    const start = at;
    name(labels);
    // The name takes the place of the first pointer to it; if it is such a pointer, the others point there too.
    const base = at - 2;
    const owner = base === start ? buffer.readUInt16BE(start) & 0x3fff : start;
    if (owner >= pointable || base + written.furthest >= pointable) overflowed = true;
    if (!reserve(written.bytes.length - 2)) return;
    buffer.set(written.bytes.subarray(2), at);
    at += written.bytes.length - 2;
    pointAll(buffer, written, base, owner);
  };
  return {
    length: () => at,
    fits: () => !overflowed,
    u8,
    u16,
    u32,
    u16At,
    bytes,
    name,
    record,
    block,
    pointers: () => pointers,
    finish: () => buffer.subarray(0, at),
  };
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

/** The layout of a type's data, from its start: a number of bytes, a string with its length byte, or a name. */
type Part = number | "string" | "name";

/** The types of RFC 1035, and others whose names may arrive compressed (RFC 3597 section 4). */
const layouts: ReadonlyMap<number, readonly Part[]> = new Map<number, readonly Part[]>([
  [2, ["name"]], // NS
  [3, ["name"]], // MD
  [4, ["name"]], // MF
  [5, ["name"]], // CNAME
  [6, ["name", "name", 20]], // SOA
  [7, ["name"]], // MB
  [8, ["name"]], // MG
  [9, ["name"]], // MR
  [12, ["name"]], // PTR
  [14, ["name", "name"]], // MINFO
  [15, [2, "name"]], // MX
  [17, ["name", "name"]], // RP
  [18, [2, "name"]], // AFSDB
  [21, [2, "name"]], // RT
  [26, [2, "name", "name"]], // PX
  [33, [6, "name"]], // SRV
  [35, [4, "string", "string", "string", "name"]], // NAPTR
  [39, ["name"]], // DNAME
]);

/** The types whose names moor compresses: those in use, of the types for which RFC 3597 section 4 allows it. */
const compressed = new Set([2, 5, 6, 12, 15]);

/** The layout of a type's data if moor compresses names in it; undefined otherwise. */
export const compressibleLayout = (type: number): readonly Part[] | undefined =>
  compressed.has(type) ? layouts.get(type) : undefined;

/** Data without compression pointers. Undefined when it is not valid for its type. */
export function expandRdata(
  type: number,
  message: Uint8Array,
  place: { readonly start: number; readonly end: number },
  readName: ReadName,
): Uint8Array | undefined {
  const { start, end } = place;
  const layout = layouts.get(type);
  // UPDATE messages contain records of any type without data (RFC 2136 section 2.4).
  if (layout === undefined || start === end) return new Uint8Array(message.subarray(start, end));
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
