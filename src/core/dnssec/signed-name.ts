import { bytesOfGeneric, genericDigits, genericOfBytes } from "../rdata/fields/hex.ts";
import { parseRdata, rdataFromWire, rdataToWire } from "../rdata/rdata.ts";
import { isKnownType, type RecordType, typeCode, typeFromCode } from "../rdata/table.ts";
import type { Bytes, SignatureHead } from "./records.ts";

/** What is stored for one name of a signed zone: its place in the chain, and the records that were generated for it. */
export type SignedName = {
  readonly owner: string;
  /** Orders the chain of NSEC or NSEC3 records; null for a name that is not part of it. */
  readonly chainKey: string | null;
  /** How many names are directly below it. */
  readonly children: number;
  /** The types of the records that users wrote at this name, without generated ones. */
  readonly types: readonly number[];
  readonly generated: readonly GeneratedSet[];
  /** When the first of its signatures expires, in seconds; null if it has none. */
  readonly expires: number | null;
};

/**
 * Records that DNSSEC adds. An RRSIG set contains all signatures of its owner; each is served with the TTL of the set
 * that it covers.
 */
export type GeneratedSet = {
  /** For an NSEC3 record and its signature, the hashed name instead of the name itself. */
  readonly owner: string;
  readonly type: RecordType;
  readonly ttl: number;
  readonly values: readonly string[];
};

/**
 * When the last signature of the SOA record expires, in seconds; undefined if there is none. Every write makes new
 * ones.
 */
export function soaExpiry(apex: SignedName | undefined): number | undefined {
  const ofSoa = signaturesAt(apex).filter((text) => coveredBy(text) === typeCode("SOA"));
  return ofSoa.length === 0 ? undefined : Math.max(...ofSoa.map((text) => headOfSignature(text).expires));
}

/** Whether a signature of the name begins after this time, in seconds. */
export const beginsAfter = (name: SignedName, time: number): boolean =>
  signaturesAt(name).some((text) => headOfSignature(text).inception > time);

const signaturesAt = (name: SignedName | undefined): readonly string[] =>
  (name?.generated ?? []).filter(({ type }) => type === "TYPE46").flatMap(({ values }) => values);

/**
 * The fields of a stored signature that decide whether it can be kept. Every write looks at many, so the rest of the
 * text is not read.
 */
export function headOfSignature(text: string): Pick<SignatureHead, "covers" | "ttl" | "expires" | "inception" | "tag"> {
  const at = genericDigits(text);
  // RFC 4034 section 3.1.
  const [covers, ttl, expires] = [coveredBy(text), digitsIn(text, at + 8, 8), digitsIn(text, at + 16, 8)];
  return { covers, ttl, expires, inception: digitsIn(text, at + 24, 8), tag: digitsIn(text, at + 32, 4) };
}

/** The number of the type that a stored signature covers. */
export const coveredBy = (text: string): number => digitsIn(text, genericDigits(text), 4);

function digitsIn(text: string, at: number, count: number): number {
  const value = Number.parseInt(text.slice(at, at + count), 16);
  if (Number.isNaN(value)) throw new Error(`the value of an RRSIG record cannot be read: ${text}`);
  return value;
}

/** Whether two sets of one owner and type have the same TTL and values. */
export const haveSameContent = (a: GeneratedSet, b: GeneratedSet): boolean =>
  a.ttl === b.ttl && haveSame(a.values, b.values);

/** Whether both contain the same items, in any order. Assumes that no item appears twice. */
export const haveSame = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));

/** The set of the same owner and type. */
export const setLike = (sets: readonly GeneratedSet[], { owner, type }: GeneratedSet): GeneratedSet | undefined =>
  sets.find((set) => set.owner === owner && set.type === type);

/** A name with children, or with records, exists. */
export const exists = ({ types, children }: Pick<SignedName, "types" | "children">): boolean =>
  types.length > 0 || children > 0;

/** The name of a type. Those that DNSSEC adds have only generic names here, such as `TYPE46` (RFC 3597). */
export function typeNamed(code: number): RecordType {
  const type = typeFromCode(code);
  if (type === undefined) throw new Error(`no record can have the type ${code}`);
  return type;
}

export function textOfData(code: number, data: Uint8Array): string {
  const type = typeNamed(code);
  if (!isKnownType(type)) return genericOfBytes(data);
  const read = rdataFromWire(type, data);
  if (!read.ok) throw new Error(`generated data for the type ${code} is not valid`);
  return read.value.text;
}

export function dataOfText(type: RecordType, text: string): Bytes {
  const generic = isKnownType(type) ? undefined : bytesOfGeneric(text);
  if (generic !== undefined) return generic;
  const read = parseRdata(type, text, "");
  if (!read.ok) throw new Error(`the value of a ${type} record cannot be read: ${text}`);
  return rdataToWire(read.value);
}
