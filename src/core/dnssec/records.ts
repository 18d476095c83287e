import { labelsOf } from "../names/name.ts";
import { nameToWire } from "../names/wire.ts";
import { hashOf, wireName } from "../records/nsec3-hash.ts";
import { canonicalData, compareBytes, signedLabels } from "./canonical.ts";
import { type Algorithm, keyFlags } from "./codes.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** RFC 4034 section 4.1.2: 256 types per block, only as many bytes as needed. */
function typeBitmap(types: Iterable<number>): Bytes {
  const blocks = new Map<number, Uint8Array>();
  for (const type of types) {
    const block = blocks.get(type >> 8) ?? new Uint8Array(32);
    blocks.set(type >> 8, block);
    const at = (type & 0xff) >> 3;
    block[at] = (block[at] ?? 0) | (0x80 >> (type & 7));
  }
  const parts = [...blocks].sort(([a], [b]) => a - b);
  return joined(
    parts.map(([number, block]) => {
      const length = block.findLastIndex((byte) => byte !== 0) + 1;
      return joined([Uint8Array.of(number, length), block.subarray(0, length)]);
    }),
  );
}

export const nsecData = (next: string, types: Iterable<number>): Bytes => joined([nameToWire(next), typeBitmap(types)]);

/** SHA-1, no opt-out, no further iterations, no salt (RFC 9276 section 3.1). */
export const nsec3Data = (nextHash: Uint8Array, types: Iterable<number>): Bytes =>
  joined([Uint8Array.of(1, 0, 0, 0, 0, nextHash.length), nextHash, typeBitmap(types)]);

export const nsec3ParamData = Uint8Array.of(1, 0, 0, 0, 0);

export const dnskeyData = (algorithm: Algorithm, publicKey: Uint8Array, flags: number = keyFlags): Bytes =>
  joined([u16(flags), Uint8Array.of(3, algorithm), publicKey]);

/** RFC 4034 appendix B. */
export function keyTag(dnskey: Uint8Array): number {
  let sum = 0;
  for (const [i, byte] of dnskey.entries()) sum += i & 1 ? byte : byte << 8;
  return (sum + (sum >>> 16)) & 0xffff;
}

/** The data of a DS or CDS record with a SHA-256 digest (RFC 4509). */
export const dsData = (dnskey: Uint8Array, zone: string, sha256: (data: Uint8Array) => Uint8Array): Bytes =>
  joined([u16(keyTag(dnskey)), Uint8Array.of(dnskey[3] ?? 0, 2), sha256(joined([nameToWire(zone), dnskey]))]);

/** RFC 8078 section 4: they ask the parent to remove its DS records. */
export const removeDs = { cds: Uint8Array.of(0, 0, 0, 0, 0), cdnskey: Uint8Array.of(0, 0, 3, 0, 0) } as const;

/** Times are in seconds. */
export type SignatureHead = {
  readonly covers: number;
  readonly algorithm: Algorithm;
  readonly ttl: number;
  readonly expires: number;
  readonly inception: number;
  readonly tag: number;
  readonly zone: string;
};

/** One set to be signed. `name` is absolute. */
export type SetToSign = { readonly name: string; readonly data: readonly Uint8Array[] };

/** The beginning of the RRSIG's data, and all that is signed (RFC 4034 section 3.1.8.1). */
export function signatureInput(head: SignatureHead, { name, data }: SetToSign) {
  const { covers, algorithm, ttl, expires, inception, tag, zone } = head;
  const start = joined([
    u16(covers),
    Uint8Array.of(algorithm, signedLabels(name)),
    ...[ttl, expires, inception].map(u32),
    u16(tag),
    nameToWire(zone),
  ]);
  const records = data.map((each) => canonicalData(covers, each)).sort(compareBytes);
  const before = joined([nameToWire(name), u16(covers), u16(1), u32(ttl)]);
  const signed = joined([start, ...records.flatMap((each) => [before, u16(each.length), each])]);
  return { start, signed };
}

/** The hash of a name in the zones that are signed here. */
export const hashedName = (name: string): Uint8Array => hashOf(wireName(labelsOf(name)), nsec3ParamData);

export function joined(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 0xff);
const u32 = (value: number): Uint8Array =>
  Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
