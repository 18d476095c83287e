import { dataOfGeneric } from "../rdata/fields/hex.ts";
import type { RecordType } from "../rdata/table.ts";

export const rrsig = "TYPE46" satisfies RecordType;
export const nsec = "TYPE47" satisfies RecordType;
export const nsec3 = "TYPE50" satisfies RecordType;

export const packedCodes = { [rrsig]: 46, [nsec]: 47, [nsec3]: 50 } as const;
export type PackedType = keyof typeof packedCodes;

export const isPackedType = (type: RecordType): type is PackedType => type in packedCodes;

/**
 * In a signed zone every name has an NSEC or NSEC3 set, and every set has signatures. Those of one name are kept in one
 * text, one character per byte: as objects they would take a multiple of the memory. Each set is its type, the type
 * that it covers, its TTL, its length, and the data of its records.
 */
export type Packed = string;

/** Where packed sets are kept. */
export type PackedNode = { readonly packed: Packed };

/** The signatures of one name that cover one type count as a set. */
export type PackedSet = {
  readonly type: PackedType;
  /** The number of the type that signatures cover; 0 for other sets. */
  readonly covers: number;
  /** For signatures, that of the covered set (RFC 4034 section 3): RRSIG records of one owner have different TTLs. */
  readonly ttl: number;
  /** The data of each record, after its length in two characters. */
  readonly data: string;
  readonly holder: PackedNode;
  /** What the holder had when the set was unpacked. */
  readonly from: Packed;
};

export type NewPacked = Pick<PackedSet, "type" | "covers" | "ttl" | "data">;

export const isPacked = (set: object): set is PackedSet => "holder" in set;
export const isSignatures = (set: { readonly type: string }): set is PackedSet => set.type === rrsig && isPacked(set);

/** Whether it is no longer in its zone. */
export function isUnpacked({ type, covers, ttl, data, holder, from }: PackedSet): boolean {
  if (holder.packed === from) return false;
  const now = packedAt(holder, type, covers);
  return now?.data !== data || now.ttl !== ttl;
}

export const isSamePacked = (a: PackedSet, b: PackedSet): boolean =>
  a.holder === b.holder && a.type === b.type && a.covers === b.covers && a.data === b.data && a.ttl === b.ttl;

export function packedAt(holder: PackedNode, type: PackedType, covers = 0): PackedSet | undefined {
  const { packed } = holder;
  const code = packedCodes[type];
  if (packed.length > longText) {
    const at = placesIn(holder).get(code * 0x1_0000 + covers);
    return at === undefined ? undefined : setAt(holder, at, type);
  }
  for (let at = 0; at < packed.length; at = endOf(packed, at))
    if (u16At(packed, at) === code && u16At(packed, at + 2) === covers) return setAt(holder, at, type);
  return undefined;
}

/** The set with at most this many records, the first ones. */
export function firstOf(set: PackedSet, most: number): PackedSet {
  let end = 0;
  for (let left = most; left > 0 && end < set.data.length; left--) end += 2 + u16At(set.data, end);
  return end < set.data.length ? { ...set, data: set.data.slice(0, end) } : set;
}

/** Longer texts have an index: any name may have thousands of sets. */
const longText = 8_192;

type Places = { readonly from: Packed; readonly at: ReadonlyMap<number, number> };
const indexed = new WeakMap<PackedNode, Places>();

/** Where the sets in a long text start, by their type and the type that they cover. */
function placesIn(holder: PackedNode): Places["at"] {
  const { packed } = holder;
  const cachedIndex = indexed.get(holder);
  if (cachedIndex?.from === packed) return cachedIndex.at;
  const at = new Map<number, number>();
  for (let start = 0; start < packed.length; start = endOf(packed, start))
    at.set(u16At(packed, start) * 0x1_0000 + u16At(packed, start + 2), start);
  indexed.set(holder, { from: packed, at });
  return at;
}

/** All sets; of signatures, at most `mostSignatures` sets. */
export function packedSets(holder: PackedNode, mostSignatures = Number.POSITIVE_INFINITY): readonly PackedSet[] {
  const { packed } = holder;
  const all: PackedSet[] = [];
  let left = mostSignatures;
  for (let at = 0; at < packed.length && left > 0; at = endOf(packed, at)) {
    const code = u16At(packed, at);
    if (code === packedCodes[rrsig]) left -= 1;
    all.push(setAt(holder, at, code === packedCodes[rrsig] ? rrsig : code === packedCodes[nsec] ? nsec : nsec3));
  }
  return all;
}

/** The sets of the holder with `wanted` instead of `old`. */
export function withPacked(holder: PackedNode, old: PackedSet | undefined, wanted: NewPacked | undefined): Packed {
  const others = packedSets(holder).filter((each) => old === undefined || !isSamePacked(each, old));
  return packed(wanted ? [...others, wanted] : others);
}

/** Joined, not concatenated: V8 would keep the pieces. */
export const packed = (sets: readonly NewPacked[]): Packed =>
  sets
    .flatMap(({ type, covers, ttl, data }) => [
      u16(packedCodes[type]) + u16(covers) + u32(ttl) + u32(data.length),
      data,
    ])
    .join("");

/** Sets of one owner, with canonical texts. */
export const packValues = (
  sets: readonly { readonly type: PackedType; readonly ttl: number; readonly values: readonly string[] }[],
): Packed =>
  packed(
    sets.flatMap(({ type, ttl, values }) =>
      type === rrsig ? signaturesIn(values, ttl) : [packedOf(type, values, ttl)],
    ),
  );

/** How many sets there are, how many of them are signatures, and whether they belong to an NSEC3 record. */
export function countsIn(packed: Packed): {
  readonly sets: number;
  readonly signatures: number;
  readonly isHashed: boolean;
} {
  let [sets, signatures, isHashed] = [0, 0, false];
  for (let at = 0; at < packed.length; at = endOf(packed, at)) {
    sets += 1;
    if (u16At(packed, at) === packedCodes[rrsig]) signatures += 1;
    if (u16At(packed, at) === packedCodes[nsec3]) isHashed = true;
  }
  return { sets, signatures, isHashed };
}

/** The records of an NSEC or NSEC3 set, from their canonical texts. */
export function packedOf(type: PackedType, values: readonly string[], ttl: number): NewPacked {
  return { type, covers: 0, ttl, data: joinedData(values.map(dataOf)) };
}

/** The signatures in the values of an RRSIG set, by covered type. */
export function signaturesIn(values: readonly string[], ttl: number): readonly NewPacked[] {
  const covered = Map.groupBy(values.map(dataOf), coveredType);
  return Array.from(covered, ([covers, all]) => ({
    type: rrsig,
    covers,
    ttl: originalTtl(all[0] ?? "") ?? ttl,
    data: joinedData(all),
  }));
}

const joinedData = (all: readonly string[]): string => all.flatMap((data) => [u16(data.length), data]).join("");

export function packedWire({ data }: PackedSet): readonly Uint8Array[] {
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

/** The data of each record, after its length in two characters. */
export function* packedRecords({ data }: Pick<PackedSet, "data">): Generator<string> {
  for (let at = 0; at < data.length; ) {
    const end = at + 2 + u16At(data, at);
    yield data.slice(at, end);
    at = end;
  }
}

export function countPacked({ data }: PackedSet): number {
  let count = 0;
  for (let at = 0; at < data.length; at += 2 + u16At(data, at)) count += 1;
  return count;
}

/**
 * The TTL of an RRSIG record, from its canonical text: that of the set that it covers. Undefined for data that is too
 * short.
 */
export const ttlOfSignature = (text: string): number | undefined => originalTtl(dataOf(text));

/** RFC 4034 section 3.1. Data that is too short covers type 0, which nothing has. */
const coveredType = (data: string): number => (data.length < fixedPart ? 0 : u16At(data, 0));

function originalTtl(data: string): number | undefined {
  if (data.length < fixedPart) return undefined;
  const ttl = u32At(data, 4);
  // RFC 2181 section 8.
  return ttl > 0x7fff_ffff ? 0 : ttl;
}

/** The bytes before the signer's name. */
const fixedPart = 18;

const headLength = 12;

function setAt(holder: PackedNode, at: number, type: PackedType): PackedSet {
  const { packed: from } = holder;
  const data = from.slice(at + headLength, endOf(from, at));
  return { type, covers: u16At(from, at + 2), ttl: u32At(from, at + 4), data, holder, from };
}

const endOf = (packed: Packed, at: number): number => at + headLength + u32At(packed, at + 8);

const u16At = (data: string, at: number): number => (data.charCodeAt(at) << 8) | data.charCodeAt(at + 1);
const u32At = (data: string, at: number): number => u16At(data, at) * 0x1_0000 + u16At(data, at + 2);
const u16 = (value: number): string => String.fromCharCode(value >> 8, value & 0xff);
const u32 = (value: number): string => u16(value >>> 16) + u16(value & 0xffff);

function dataOf(text: string): string {
  const data = dataOfGeneric(text);
  if (data === undefined) throw new Error(`the value of a record made by DNSSEC cannot be read: ${text}`);
  return data;
}
