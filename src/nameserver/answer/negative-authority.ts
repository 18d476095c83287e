import type { AnswerSet } from "../../core/records/answer.ts";
import type { DenialSet } from "../../core/records/denial.ts";
import { packedCodes, packedRecords } from "../../core/records/packed-sets.ts";
import { countRecords, signaturesAt, type ZoneView } from "../../core/records/zone-view.ts";
import { classes, headerLength, maximumMessage } from "../../lib/dns/codes.ts";
import { ednsUdpSize } from "../../lib/dns/edns.ts";
import { MessageWriter } from "../../lib/dns/message-writer.ts";
import type { Transport } from "../wire/read-query.ts";
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
  /** No datagram can hold it, so it was not written: replies over UDP are truncated, and it is not for TCP. */
  readonly isOnlyForUdp: boolean;
};

/** Undefined when no message could hold it. Over UDP, no more is written than fits into a datagram. */
export function createNegativeAuthority(
  view: ZoneView,
  authority: readonly AnswerSet[],
  transport: Transport,
): NegativeAuthority | undefined {
  const writer = new MessageWriter(transport === "udp" ? ednsUdpSize : maximumMessage);
  writer.bytes(new Uint8Array(headerLength));
  writer.name(view.labels);
  const nameLength = writer.length() - headerLength;
  writer.u32(0);
  const start = writer.length();
  writeSets(writer, authority);
  const sets = authority.map((each) => each.set);
  const isOnlyForUdp = transport === "udp" && !writer.fits();
  if (isOnlyForUdp) return { sets, records: 0, bytes: nothing, pointers: noPointers, nameLength, isOnlyForUdp };
  if (!writer.fits()) return undefined;
  const message = writer.finish();
  return {
    sets,
    isOnlyForUdp,
    records: authority.reduce((sum, { set }) => sum + countRecords(set), 0),
    bytes: Buffer.from(message.subarray(start)),
    pointers: Uint16Array.from(writer.pointers().flatMap((at) => [at - start, message.readUInt16BE(at) & 0x3fff])),
    nameLength,
  };
}

const nothing = Buffer.alloc(0);
const noPointers = new Uint16Array();

/** An NSEC3 record and its signatures, which follow the authority section. */
export type CoveringNsec3 = {
  readonly records: number;
  /** Without the compression pointers of the owners. */
  readonly bytes: Buffer;
  /** Where the pointer to the zone's name is, and those to the owner of the record, which comes first. */
  readonly zonePointer: number;
  readonly ownerPointers: readonly number[];
};

export function coveringNsec3({ name: [label = ""], set, node }: DenialSet): CoveringNsec3 {
  const signatures = signaturesAt(node, set.type);
  const sets = signatures ? [set, signatures] : [set];
  const pointers: number[] = [];
  let text = String.fromCharCode(label.length) + label;
  for (const { type, data } of sets)
    for (const record of packedRecords({ data })) {
      pointers.push(text.length);
      text += `\0\0${wireText(packedCodes[type], classes.in, set.ttl >>> 16, set.ttl & 0xffff)}${record}`;
    }
  const [zonePointer = 0, ...ownerPointers] = pointers;
  return { records: pointers.length, bytes: Buffer.from(text, "latin1"), zonePointer, ownerPointers };
}

const wireText = (...words: readonly number[]): string =>
  words.map((word) => String.fromCharCode(word >> 8, word & 0xff)).join("");

/** Writes the link at `at`; `zoneAt` is where the zone's name is in the question. */
export function placeNsec3(
  { bytes, zonePointer, ownerPointers }: CoveringNsec3,
  reply: Buffer,
  at: number,
  zoneAt: number,
): void {
  reply.set(bytes, at);
  placePointer(reply, at + zonePointer, zoneAt);
  for (const pointer of ownerPointers) placePointer(reply, at + pointer, at);
}

function placePointer(reply: Buffer, at: number, to: number): void {
  reply[at] = 0xc0 | (to >> 8);
  reply[at + 1] = to & 0xff;
}

/** Appends the authority section to a question that ends at `end`. */
export function placeAuthority({ bytes, pointers, nameLength }: NegativeAuthority, reply: Buffer, end: number): void {
  reply.set(bytes, end);
  const further = end - (headerLength + nameLength + 4);
  for (let i = 0; i < pointers.length; i += 2)
    placePointer(reply, end + (pointers[i] ?? 0), (pointers[i + 1] ?? 0) + further);
}
