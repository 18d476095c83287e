import type { AnswerSet } from "../../core/records/answer.ts";
import { countRecords, type ZoneView } from "../../core/records/zone-view.ts";
import { headerLength } from "../../process/dns/codes.ts";
import { createMessageWriter } from "../../process/dns/message-writer.ts";
import { writeSets } from "../wire/write-sets.ts";

/**
 * The authority section of a negative answer: the SOA record and, in a signed zone, signatures and proofs. Many names share it, so it is
 * encoded once, as if the question were the zone's own name; for a longer name, all compression pointers move by the difference.
 */
export type NegativeTail = {
  readonly sets: readonly AnswerSet["set"][];
  /** How many records it has. */
  readonly records: number;
  readonly bytes: Buffer;
  /** The position and the target of each of its compression pointers, in turns. */
  readonly pointers: Uint16Array;
  /** Bytes of the zone's name on the wire. */
  readonly nameLength: number;
};

export function createNegativeTail(view: ZoneView, authority: readonly AnswerSet[]): NegativeTail {
  const writer = createMessageWriter();
  writer.bytes(new Uint8Array(headerLength));
  writer.name(view.labels);
  const nameLength = writer.length() - headerLength;
  writer.u32(0);
  const start = writer.length();
  writeSets(writer, authority);
  const message = writer.finish();
  return {
    sets: authority.map((each) => each.set),
    records: authority.reduce((sum, { set }) => sum + countRecords(set), 0),
    bytes: Buffer.from(message.subarray(start)),
    pointers: Uint16Array.from(writer.pointers().flatMap((at) => [at - start, message.readUInt16BE(at) & 0x3fff])),
    nameLength,
  };
}

/** Appends it to a question that ends at `end`. */
export function placeTail({ bytes, pointers, nameLength }: NegativeTail, reply: Buffer, end: number): void {
  reply.set(bytes, end);
  const further = end - (headerLength + nameLength + 4);
  for (let i = 0; i < pointers.length; i += 2) {
    const at = end + (pointers[i] ?? 0);
    const to = (pointers[i + 1] ?? 0) + further;
    reply[at] = 0xc0 | (to >> 8);
    reply[at + 1] = to & 0xff;
  }
}
