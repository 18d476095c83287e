import { apex, labelsOf } from "../names/name.ts";
import type { WirePart } from "../rdata/fields/field.ts";
import { dataWithNames } from "../rdata/names-in-data.ts";
import { bytesTypes, typeCode } from "../rdata/table.ts";

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

/** The data of a record as it is signed (RFC 4034 section 6.2): names inside it are in lower case. */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  const parts = lowered.get(type);
  if (parts === undefined) return data;
  const from = firstName(parts, data);
  // A length byte is at most 63, which is below every letter, so the bytes can be changed without reading the labels.
  return data.map((byte, i) => (i >= from && byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte));
}

/** Types whose data is kept as bytes; the names of others are kept in lower case. */
const lowered: ReadonlyMap<number, readonly WirePart[]> = new Map(
  bytesTypes.map(typeCode).flatMap((code) => {
    const data = dataWithNames.get(code);
    return data ? [[code, data.parts]] : [];
  }),
);

/** Where the names begin: in all these types they come last. */
function firstName(parts: readonly WirePart[], data: Uint8Array): number {
  let at = 0;
  for (const part of parts) {
    if (part === "name") break;
    at += part === "string" ? 1 + (data[at] ?? 0) : part;
  }
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
