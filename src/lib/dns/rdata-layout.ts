import type { ReadName } from "./read-name.ts";

/** The layout of a type's data, from its start: a number of bytes, a string with its length byte, or a name. */
type Part = number | "string" | "name";

/** The types of RFC 1035, and others whose names may arrive compressed (RFC 3597 section 4). */
const layouts: ReadonlyMap<number, readonly Part[]> = new Map<number, readonly Part[]>([
  [2, ["name"]], // NS
  [3, ["name"]], // MD
  [4, ["name"]], // MF
  [5, ["name"]], // CNAME
  [6, ["name", "name", 20]], // SOA
  [7, ["name"]], // MB
  [8, ["name"]], // MG
  [9, ["name"]], // MR
  [12, ["name"]], // PTR
  [14, ["name", "name"]], // MINFO
  [15, [2, "name"]], // MX
  [17, ["name", "name"]], // RP
  [18, [2, "name"]], // AFSDB
  [21, [2, "name"]], // RT
  [26, [2, "name", "name"]], // PX
  [33, [6, "name"]], // SRV
  [35, [4, "string", "string", "string", "name"]], // NAPTR
  [39, ["name"]], // DNAME
]);

/** The types whose names moor compresses: those in use, of the types for which RFC 3597 section 4 allows it. */
const compressed = new Set([2, 5, 6, 12, 15]);

/** The layout of a type's data if moor compresses names in it; undefined otherwise. */
export const compressibleLayout = (type: number): readonly Part[] | undefined =>
  compressed.has(type) ? layouts.get(type) : undefined;

/** Data without compression pointers. Undefined when it is not valid for its type. */
export function expandRdata(
  type: number,
  message: Uint8Array,
  place: { readonly start: number; readonly end: number },
  readName: ReadName,
): Uint8Array | undefined {
  const { start, end } = place;
  const layout = layouts.get(type);
  // UPDATE messages contain records of any type without data (RFC 2136 section 2.4).
  if (layout === undefined || start === end) return new Uint8Array(message.subarray(start, end));
  const parts: Uint8Array[] = [];
  let at = start;
  for (const part of layout) {
    if (part === "name") {
      const read = readName(at, end);
      if (read === undefined) return undefined;
      parts.push(read.name.bytes);
      at = read.end;
      continue;
    }
    const length = part === "string" ? 1 + (message[at] ?? 0) : part;
    if (at + length > end) return undefined;
    parts.push(message.subarray(at, at + length));
    at += length;
  }
  return at === end ? joined(parts) : undefined;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
