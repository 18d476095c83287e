import type { AnswerSet } from "../../core/records/answer.ts";
import type { DenialSet } from "../../core/records/denial.ts";
import { type PackedSet, packedCodes } from "../../core/records/packed-sets.ts";
import { countRecords, signaturesAt, type ZoneView } from "../../core/records/zone-view.ts";
import { classes, headerLength } from "../../lib/dns/codes.ts";
import { MessageWriter } from "../../lib/dns/message-writer.ts";
import { writeSets } from "../wire/write-sets.ts";

/**
 * The authority section of a negative answer: the SOA record and, in a signed zone, signatures and proofs. Many names
 * share it, so it is encoded once, as if the question were the zone's own name; for a longer name, all compression
 * pointers move by the difference.
 */
export type NegativeAuthority = {
  readonly sets: readonly AnswerSet["set"][];
  /** How many records it has. */
  readonly records: number;
  readonly bytes: Buffer;
  /** The position and the target of each of its compression pointers, alternating. */
  readonly pointers: Uint16Array;
  /** Bytes of the zone's name on the wire. */
  readonly nameLength: number;
};

/** Undefined when no message could hold it. */
export function createNegativeAuthority(
  view: ZoneView,
  authority: readonly AnswerSet[],
): NegativeAuthority | undefined {
  const writer = new MessageWriter();
  writer.bytes(new Uint8Array(headerLength));
  writer.name(view.labels);
  const nameLength = writer.length() - headerLength;
  writer.u32(0);
  const start = writer.length();
  writeSets(writer, authority);
  if (!writer.fits()) return undefined;
  const message = writer.finish();
  return {
    sets: authority.map((each) => each.set),
    records: authority.reduce((sum, { set }) => sum + countRecords(set), 0),
    bytes: Buffer.from(message.subarray(start)),
    pointers: Uint16Array.from(writer.pointers().flatMap((at) => [at - start, message.readUInt16BE(at) & 0x3fff])),
    nameLength,
  };
}

/** An NSEC3 record and its signatures, after the authority section. */
export type CoveringNsec3 = {
  readonly label: string;
  readonly set: PackedSet;
  readonly signatures: PackedSet | undefined;
  readonly records: number;
  /** Bytes in the message. */
  readonly length: number;
};

export function coveringNsec3({ name: [label = ""], set, node }: DenialSet): CoveringNsec3 {
  const signatures = signaturesAt(node, set.type);
  const records = countRecords(set) + (signatures ? countRecords(signatures) : 0);
  const data = set.data.length + (signatures?.data.length ?? 0);
  // The first owner is written out; the data of each record has its length in front.
  return { label, set, signatures, records, length: 1 + label.length + records * (2 + 8) + data };
}

/** Writes the link at `at`; `zoneAt` is where the zone's name is in the question. */
export function placeNsec3({ label, set, signatures }: CoveringNsec3, reply: Buffer, at: number, zoneAt: number): void {
  reply[at] = label.length;
  const to = at + 1 + reply.write(label, at + 1, "latin1");
  const end = placeRecords(set, { owner: zoneAt, ttl: set.ttl }, reply, to);
  if (signatures) placeRecords(signatures, { owner: at, ttl: set.ttl }, reply, end);
}

/** Writes the records of a set, each with a pointer to the owner. Returns where they end. */
function placeRecords(
  { type, data }: PackedSet,
  { owner, ttl }: { readonly owner: number; readonly ttl: number },
  reply: Buffer,
  at: number,
): number {
  const code = packedCodes[type];
  let to = at;
  for (let from = 0; from < data.length; ) {
    for (const word of [0xc000 | owner, code, classes.in, ttl >>> 16, ttl & 0xffff]) {
      reply[to] = word >> 8;
      reply[to + 1] = word;
      to += 2;
    }
    const end = from + 2 + ((data.charCodeAt(from) << 8) | data.charCodeAt(from + 1));
    to += reply.write(data.slice(from, end), to, "latin1");
    from = end;
  }
  return to;
}

/** Appends the authority section to a question that ends at `end`. */
export function placeAuthority({ bytes, pointers, nameLength }: NegativeAuthority, reply: Buffer, end: number): void {
  reply.set(bytes, end);
  const further = end - (headerLength + nameLength + 4);
  for (let i = 0; i < pointers.length; i += 2) {
    const at = end + (pointers[i] ?? 0);
    const to = (pointers[i + 1] ?? 0) + further;
    reply[at] = 0xc0 | (to >> 8);
    reply[at + 1] = to & 0xff;
  }
}
