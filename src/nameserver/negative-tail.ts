import type { AnswerSet } from "../core/answer.ts";
import type { ViewSet, ZoneView } from "../core/zone-view.ts";
import { classes, headerLength } from "./codes.ts";
import { createMessageWriter } from "./message-writer.ts";
import { writeSets } from "./write-sets.ts";

/**
 * The SOA record as it ends every negative answer of a zone. It is written once, as if the zone's own name had been
 * asked for: with a longer name in front of it, all that its pointers lead to lies as much further back.
 */
export type NegativeTail = {
  readonly soa: ViewSet;
  readonly bytes: Buffer;
  /** Where its pointers are. */
  readonly pointers: readonly number[];
  /** The bytes of the zone's name. */
  readonly nameLength: number;
};

export function createNegativeTail(view: ZoneView, soa: AnswerSet): NegativeTail {
  const writer = createMessageWriter();
  writer.bytes(new Uint8Array(headerLength));
  writer.name(view.labels);
  const nameLength = writer.length() - headerLength;
  writer.u32(0);
  const start = writer.length();
  writeSets(writer, [soa]);
  return {
    soa: soa.set,
    bytes: Buffer.from(writer.finish().subarray(start)),
    pointers: writer.pointers().map((at) => at - start),
    nameLength,
  };
}

/** A whole reply to the question of a key, with id zero. `bits` are the flags and the code. */
export function withNegativeTail(tail: NegativeTail, key: string, bits: number): Buffer {
  const end = headerLength + key.length + 2;
  const reply = Buffer.allocUnsafe(end + tail.bytes.length);
  reply.fill(0, 0, headerLength);
  reply.writeUInt16BE(bits, 2);
  reply[5] = 1;
  reply[9] = 1;
  reply.write(key, headerLength, "latin1");
  reply.writeUInt16BE(classes.in, end - 2);
  reply.set(tail.bytes, end);
  const further = key.length - 2 - tail.nameLength;
  for (const at of tail.pointers) reply.writeUInt16BE(tail.bytes.readUInt16BE(at) + further, end + at);
  return reply;
}
