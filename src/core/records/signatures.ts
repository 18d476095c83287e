import { bytesOfGeneric, textOfBytes } from "../rdata/field-hex.ts";
import type { RecordType } from "../rdata/table.ts";

export const rrsig = "TYPE46" satisfies RecordType;
export const nsec = "TYPE47" satisfies RecordType;
export const nsec3 = "TYPE50" satisfies RecordType;

/**
 * The RRSIG records of one owner that cover one type; immutable, a change replaces them. Every signed set has some, so they are kept as
 * bytes: as texts, parsed and in wire format they would take a multiple.
 */
export type Signatures = {
  readonly type: typeof rrsig;
  /** The number of the covered type. */
  readonly covers: number;
  /** That of the covered set (RFC 4034 section 3): RRSIG records of one owner have different TTLs. */
  readonly ttl: number;
  /** The data of each record, one character per byte, after its length in two characters. */
  readonly data: string;
  /** No longer in their zone. */
  gone: boolean;
  /** Those of the same owner that cover other types. */
  next: Signatures | undefined;
};

export const isSignatures = (set: object): set is Signatures => "covers" in set;

/** The signatures in the values of an RRSIG set, by covered type. */
export function signaturesIn(values: readonly string[], ttl: number): readonly Signatures[] {
  const covered = new Map<number, { ttl: number; data: string[] }>();
  for (const text of values) {
    const data = dataOf(text);
    const covers = coveredType(data);
    const own = covered.get(covers) ?? { ttl: originalTtl(data) ?? ttl, data: [] };
    covered.set(covers, own);
    own.data.push(String.fromCharCode(data.length >> 8, data.length & 0xff), data);
  }
  return [...covered].map(([covers, own]) => ({
    type: rrsig,
    covers,
    ttl: own.ttl,
    // Joined, not concatenated: V8 would keep the pieces.
    data: own.data.join(""),
    gone: false,
    next: undefined,
  }));
}

export const signaturesOver = (first: Signatures | undefined, covers: number): Signatures | undefined => {
  for (let each = first; each !== undefined; each = each.next) if (each.covers === covers) return each;
  return undefined;
};

export function signatureWire({ data }: Signatures): readonly Uint8Array[] {
  const all: Uint8Array[] = [];
  for (let at = 0; at < data.length; ) {
    const length = u16At(data, at);
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = data.charCodeAt(at + 2 + i);
    all.push(bytes);
    at += 2 + length;
  }
  return all;
}

export function countSignatures({ data }: Signatures): number {
  let count = 0;
  for (let at = 0; at < data.length; at += 2 + u16At(data, at)) count += 1;
  return count;
}

/** The TTL of an RRSIG record, from its canonical text: that of the set that it covers. Undefined for data that is too short. */
export const ttlOfSignature = (text: string): number | undefined => originalTtl(dataOf(text));

/** RFC 4034 section 3.1. Data that is too short covers type 0, which nothing has. */
const coveredType = (data: string): number => (data.length < fixedPart ? 0 : u16At(data, 0));

function originalTtl(data: string): number | undefined {
  if (data.length < fixedPart) return undefined;
  const ttl = u16At(data, 4) * 0x1_0000 + u16At(data, 6);
  // RFC 2181 section 8.
  return ttl > 0x7fff_ffff ? 0 : ttl;
}

/** The bytes before the signer's name. */
const fixedPart = 18;

const u16At = (data: string, at: number): number => (data.charCodeAt(at) << 8) | data.charCodeAt(at + 1);

function dataOf(text: string): string {
  const bytes = bytesOfGeneric(text);
  if (bytes === undefined) throw new Error(`the value of an RRSIG record cannot be read: ${text}`);
  return textOfBytes(bytes);
}
