import { apex, labelsOf } from "../names/name.ts";

/**
 * A text whose order is the canonical order of names (RFC 4034 section 6.1): labels from the last to the first,
 * compared byte by byte. It contains no NUL, which PostgreSQL cannot store. Owners are relative to the zone, so the
 * apex comes first.
 */
export function canonicalSortKey(owner: string): string {
  if (owner === apex) return "";
  let sortKey = "";
  for (const label of labelsOf(owner).toReversed()) {
    sortKey += separator;
    for (let i = 0; i < label.length; i++) sortKey += String.fromCharCode(label.charCodeAt(i) + 2);
  }
  return sortKey;
}

const separator = "\u0001";

/** RFC 4034 section 3.1.3: how many labels the signed name has, without the root and without the `*` of a wildcard. */
export function signedLabels(name: string): number {
  const labels = labelsOf(name);
  return labels[0] === "*" ? labels.length - 1 : labels.length;
}

/**
 * The data of a record as it is signed (RFC 4034 section 6.2): names inside it are in lower case. Known types are
 * stored that way.
 */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  const from = type === naptr ? afterStrings(data) : namesFrom.get(type);
  if (from === undefined) return data;
  // A length byte is at most 63, which is below every letter, so the bytes can be changed without reading the labels.
  return data.map((byte, i) => (i >= from && byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte));
}

/** Where the names begin in types whose data is kept as bytes: MB, MG, MR, MINFO, AFSDB, RT, PX, KX and DNAME. */
const namesFrom: ReadonlyMap<number, number> = new Map([
  [7, 0],
  [8, 0],
  [9, 0],
  [14, 0],
  [18, 2],
  [21, 2],
  [26, 2],
  [36, 2],
  [39, 0],
]);

const naptr = 35;

/** The name in a NAPTR record begins after two numbers and three strings. */
function afterStrings(data: Uint8Array): number {
  let at = 4;
  for (let strings = 0; strings < 3; strings++) at += 1 + (data[at] ?? 0);
  return at;
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
