import { Address4, Address6 } from "ip-address";

export type Family = "ipv4" | "ipv6";

export const families: readonly Family[] = ["ipv4", "ipv6"];

/** An address without prefix, port or zone. `text` is canonical (RFC 5952), so equal addresses have equal texts. */
export type Address = { readonly family: Family; readonly text: string };

/** Strict: no leading zeros, no short forms, no `%zone`, no prefix length, no blanks. */
export function parseAddress(text: string): Address | undefined {
  return parseIpv4(text) ?? parseIpv6(text);
}

const dottedQuad = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

export function parseIpv4(text: string): Address | undefined {
  return dottedQuad.test(text) ? { family: "ipv4", text } : undefined;
}

export function parseIpv6(text: string): Address | undefined {
  if (!/^[0-9a-fA-F:.]{2,45}$/.test(text) || !Address6.isValid(text)) return undefined;
  return { family: "ipv6", text: canonicalIpv6(text) };
}

/** RFC 5952: lower case, longest run of zero groups shortened, IPv4 tail only for IPv4-mapped addresses (section 5). */
function canonicalIpv6(text: string): string {
  const address = new Address6(text);
  return address.isMapped4() ? `::ffff:${address.to4().correctForm()}` : address.correctForm();
}

/** The 4 or 16 bytes of the address, as DNS carries them. */
export function addressBytes(address: Address): Uint8Array {
  return Uint8Array.from(
    address.family === "ipv4"
      ? new Address4(address.text).toArray()
      : padded(new Address6(address.text).toUnsignedByteArray(), 16),
  );
}

export function addressFromBytes(bytes: Uint8Array): Address | undefined {
  if (bytes.length === 4) return { family: "ipv4", text: bytes.join(".") };
  if (bytes.length !== 16) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  return { family: "ipv6", text: canonicalIpv6(groups.join(":")) };
}

function padded(bytes: readonly number[], length: number): number[] {
  return [...Array.from({ length: Math.max(0, length - bytes.length) }, () => 0), ...bytes.slice(-length)];
}

export const recordTypeOf = (family: Family): "A" | "AAAA" => (family === "ipv4" ? "A" : "AAAA");
