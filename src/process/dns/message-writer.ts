import type { Label } from "../../core/names/label.ts";
import { maximumMessage } from "./codes.ts";
import { compressibleLayout } from "./rdata-layout.ts";

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

/** A pointer has fourteen bits. */
const pointable = 0x4000;

/** `scratch` is used while it is large enough, so a caller that passes one must copy the result. */
export function createMessageWriter(limit = maximumMessage, scratch?: Buffer): MessageWriter {
  let buffer: Buffer = scratch ?? Buffer.allocUnsafeSlow(Math.min(limit, 512));
  let at = 0;
  let overflowed = false;
  const places = new Map<string, number>();
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
  const name = (labels: readonly Label[]) => {
    const ends = endsOf(labels);
    for (let i = 0; i < labels.length; i++) {
      const end = ends[i] ?? "";
      const place = places.get(end);
      if (place !== undefined) {
        pointers.push(at);
        return u16(0xc000 | place);
      }
      if (at < pointable && !overflowed) places.set(end, at);
      const label = labels[i] ?? "";
      if (reserve(1 + label.length)) {
        buffer[at] = label.length;
        at += 1 + buffer.write(label, at + 1, "latin1");
      }
    }
    u8(0);
  };
  const rdata = (type: number, data: Uint8Array) => {
    const layout = compressibleLayout(type);
    if (layout === undefined || data.length === 0) return bytes(data);
    let from = 0;
    for (const part of layout) {
      if (part === "name") {
        const read = plainName(data, from);
        name(read.labels);
        from = read.end;
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
  const record = (written: RecordToWrite) => {
    name(written.labels);
    u16(written.type);
    u16(written.class);
    u32(written.ttl);
    const lengthAt = at;
    u16(0);
    rdata(written.type, written.data);
    u16At(lengthAt, at - lengthAt - 2);
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
    pointers: () => pointers,
    finish: () => buffer.subarray(0, at),
  };
}

/** A name and each of its ends as keys of `places`: like the wire format, so that they are unambiguous. */
function endsOf(labels: readonly Label[]): readonly string[] {
  const ends: string[] = new Array(labels.length);
  let end = "";
  for (let i = labels.length - 1; i >= 0; i--) {
    const label = labels[i] ?? "";
    end = String.fromCharCode(label.length) + label + end;
    ends[i] = end;
  }
  return ends;
}

/** The data was checked when it was read, so an invalid name is a bug. */
function plainName(data: Uint8Array, start: number): { readonly labels: readonly Label[]; readonly end: number } {
  const labels: Label[] = [];
  let at = start;
  for (let length = data[at] ?? 0; length !== 0; length = data[at] ?? 0) {
    if (length > 63 || at + length >= data.length) throw new Error("not the data of its type");
    labels.push(String.fromCharCode(...data.subarray(at + 1, at + 1 + length)));
    at += length + 1;
  }
  return { labels, end: at + 1 };
}
