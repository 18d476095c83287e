import type { Label } from "../../core/names/label.ts";
import { maximumMessage } from "../../lib/dns/codes.ts";

/** One record of a transfer; the name is absolute. */
export type TransferRecord = {
  readonly name: readonly Label[];
  readonly type: number;
  readonly ttl: number;
  readonly data: Uint8Array;
};

export type PackOptions = {
  /** Header and question; every message of the answer begins with them. */
  readonly head: Buffer;
  /** The number of labels in the zone's name, which is the name in the question. */
  readonly zoneLabels: number;
  /** After the records: an OPT record, or nothing. */
  readonly tail: Buffer;
  /** Bytes to leave free for a signature. */
  readonly room: number;
};

/** Large enough that headers and signatures cost little, small enough to be packed within a few milliseconds. */
const fillTo = 16_384;
const pointable = 0x4000;
const questionName = 0xc00c;

/**
 * Packs records into messages (RFC 5936 section 2.2). Names end in a pointer to the question, which every message
 * repeats: nearly as short as full compression, without an index of names. Throws when a record does not fit in any
 * message.
 */
export function* packRecords(records: Iterable<TransferRecord>, options: PackOptions): Generator<Buffer> {
  const { head, zoneLabels, tail, room } = options;
  const hardLimit = maximumMessage - room - tail.length;
  const page = Buffer.allocUnsafeSlow(maximumMessage);
  page.set(head);
  let at = head.length;
  let count = 0;
  let lastName: readonly Label[] | undefined;
  let lastAt = 0;

  const close = (): Buffer => {
    page.set(tail, at);
    const message = Buffer.from(page.subarray(0, at + tail.length));
    message.writeUInt16BE(count, 6);
    message.writeUInt16BE(tail.length > 0 ? 1 : 0, 10);
    at = head.length;
    count = 0;
    lastName = undefined;
    return message;
  };

  for (const { name, type, ttl, data } of records) {
    const most = 257 + 10 + data.length;
    if (count > 0 && at + most > Math.min(fillTo, hardLimit)) yield close();
    if (at + most > hardLimit) throw new Error("a record is larger than a message");
    if (name === lastName && lastAt < pointable) {
      at = page.writeUInt16BE(0xc000 | lastAt, at);
    } else {
      [lastName, lastAt] = [name, at];
      for (let i = 0; i < name.length - zoneLabels; i++) {
        const label = name[i] ?? "";
        page[at++] = label.length;
        for (let j = 0; j < label.length; j++) page[at++] = label.charCodeAt(j);
      }
      at = page.writeUInt16BE(questionName, at);
    }
    at = page.writeUInt16BE(type, at);
    at = page.writeUInt16BE(1, at);
    at = page.writeUInt32BE(ttl, at);
    at = page.writeUInt16BE(data.length, at);
    // Most data is short, and for a few bytes a loop is faster than a call.
    if (data.length > 32) page.set(data, at);
    else for (let i = 0; i < data.length; i++) page[at + i] = data[i] ?? 0;
    at += data.length;
    count += 1;
  }
  if (count > 0) yield close();
}
