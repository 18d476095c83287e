export type Family = "ipv4" | "ipv6";

export const families: readonly Family[] = ["ipv4", "ipv6"];

/** An address without prefix, port or zone. `text` is canonical (RFC 5952), so equal addresses have equal texts. */
export type Address = { readonly family: Family; readonly text: string };

/** Strict: no leading zeros, no short forms, no `%zone`, no prefix length, no blanks. */
export function parseAddress(text: string): Address | undefined {
  return parseIpv4(text) ?? parseIpv6(text);
}

export function parseIpv4(text: string): Address | undefined {
  return dottedQuad.test(text) ? { family: "ipv4", text } : undefined;
}

export function parseIpv6(text: string): Address | undefined {
  const groups = readGroups(text);
  return groups === undefined ? undefined : { family: "ipv6", text: printGroups(groups) };
}

/** The 4 or 16 bytes of the address, in network byte order. */
export function addressBytes(address: Address): Uint8Array<ArrayBuffer> {
  if (address.family === "ipv4") return Uint8Array.from(address.text.split("."), Number);
  const groups = readGroups(address.text);
  if (groups === undefined) throw new Error("not the text of an IPv6 address");
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

export function addressFromBytes(bytes: Uint8Array): Address | undefined {
  if (bytes.length === 4) return { family: "ipv4", text: bytes.join(".") };
  if (bytes.length !== 16) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  return { family: "ipv6", text: printGroups(groups) };
}

export const recordTypeOf = (family: Family): "A" | "AAAA" => (family === "ipv4" ? "A" : "AAAA");

const dottedQuad = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const longestIpv6 = 45;
const hexGroup = /^[0-9a-f]{1,4}$/i;

/** The eight 16-bit groups (RFC 4291 section 2.2). A hand-written loop, because every AAAA value is parsed here. */
function readGroups(text: string): readonly number[] | undefined {
  if (text.length < 2 || text.length > longestIpv6) return undefined;
  const gap = text.indexOf("::");
  if (gap < 0) {
    const groups = readRun(text, true);
    return groups?.length === 8 ? groups : undefined;
  }
  const head = readRun(text.slice(0, gap), false);
  const tail = readRun(text.slice(gap + 2), true);
  if (head === undefined || tail === undefined || head.length + tail.length > 7) return undefined;
  while (head.length + tail.length < 8) head.push(0);
  head.push(...tail);
  return head;
}

/** Groups between single colons; the last may be an IPv4 address, which counts as two. */
function readRun(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? "";
    if (hexGroup.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else if (mayEndInIpv4 && i === parts.length - 1 && dottedQuad.test(part)) {
      const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
      groups.push((a << 8) | b, (c << 8) | d);
    } else {
      return undefined;
    }
  }
  return groups;
}

/**
 * RFC 5952: lower case, first longest run of zero groups shortened, IPv4 tail for IPv4-mapped addresses (section 5).
 */
function printGroups(groups: readonly number[]): string {
  if (isMapped(groups)) {
    const [high = 0, low = 0] = groups.slice(6);
    return `::ffff:${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
  }
  const { start, length } = longestZeroRun(groups);
  if (length < 2) return printRun(groups);
  return `${printRun(groups.slice(0, start))}::${printRun(groups.slice(start + length))}`;
}

const printRun = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(":");

const isMapped = (groups: readonly number[]): boolean =>
  groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}

/** A host as it is written before a port. */
export const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
