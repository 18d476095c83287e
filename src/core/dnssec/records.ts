import { labelsOf } from "../names/name.ts";
import { nameToWire } from "../names/wire.ts";
import { typeBitmap } from "../rdata/fields/type-bitmap.ts";
import { hashOf, wireName } from "../records/nsec3-hash.ts";
import { canonicalData, compareBytes, signedLabels } from "./canonical.ts";
import { type Algorithm, keyFlags } from "./codes.ts";
import type { DigestType } from "./parent-view.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

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

/** The data of a DS or CDS record (RFC 4034 section 5.1). `hash` is that of the digest type. */
export const dsData = (
  dnskey: Uint8Array,
  zone: string,
  digestType: DigestType,
  hash: (data: Uint8Array) => Uint8Array,
): Bytes =>
  joined([u16(keyTag(dnskey)), Uint8Array.of(dnskey[3] ?? 0, digestType), hash(joined([nameToWire(zone), dnskey]))]);

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
  const [signer, owner] = [nameToWire(head.zone), nameToWire(name)];
  const records = data.map((each) => canonicalData(head.covers, each)).sort(compareBytes);
  const startLength = fixedLength + signer.length;
  const length = records.reduce((sum, each) => sum + owner.length + 10 + each.length, startLength);
  // Filled in place: a large zone needs many of these, and the parts of each would be garbage for V8 to collect.
  const signed = new Uint8Array(length);
  const view = new DataView(signed.buffer);
  view.setUint16(0, head.covers);
  view.setUint8(2, head.algorithm);
  view.setUint8(3, signedLabels(name));
  view.setUint32(4, head.ttl);
  view.setUint32(8, head.expires);
  view.setUint32(12, head.inception);
  view.setUint16(16, head.tag);
  signed.set(signer, fixedLength);
  let at = startLength;
  for (const each of records) {
    signed.set(owner, at);
    at += owner.length;
    view.setUint16(at, head.covers);
    view.setUint16(at + 2, internet);
    view.setUint32(at + 4, head.ttl);
    view.setUint16(at + 8, each.length);
    signed.set(each, at + 10);
    at += 10 + each.length;
  }
  return { start: signed.subarray(0, startLength), signed };
}

/** Of the fields before the signer's name (RFC 4034 section 3.1). */
const fixedLength = 18;
/** The class IN. */
const internet = 1;

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
