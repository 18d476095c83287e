import { type Address, addressBytes, addressFromBytes, parseIpv6 } from "./address.ts";

/** The part of an IPv6 address that stays when the provider assigns another prefix. */
export type HostPart = {
  /** All sixteen bytes; the bits of the prefix are 0. */
  readonly bytes: Uint8Array;
  /** How many bits the prefix has. */
  readonly prefixLength: number;
  /** The length was configured. It is then used even if the firewall reports a longer one. */
  readonly lengthIsGiven?: boolean;
};

export const usualPrefixLength = 64;

/** The end of an address, such as `::1:2`; undefined when it overlaps the prefix, is zero, or is not an address. */
export function parseHostPart(text: string, prefixLength = usualPrefixLength): HostPart | undefined {
  const address = parseIpv6(text);
  if (!address) return undefined;
  const bytes = addressBytes(address);
  const isInPrefix = bytes.some((byte, index) => (byte & prefixMask(index, prefixLength)) !== 0);
  return isInPrefix || bytes.every((byte) => byte === 0) ? undefined : { bytes, prefixLength };
}

/** The host part that a machine with this MAC gives itself: RFC 4291, appendix A. */
export function hostPartOfMac(mac: string, prefixLength = usualPrefixLength): HostPart | undefined {
  if (!/^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(mac) || prefixLength > usualPrefixLength) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac.split(/[:-]/).map((pair) => Number.parseInt(pair, 16));
  const bytes = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, a ^ 0x02, b, c, 0xff, 0xfe, d, e, f]);
  return { bytes, prefixLength };
}

export function withHostPart(prefix: Address, { bytes, prefixLength }: HostPart): Address {
  return joinedAt(prefixLength, addressBytes(prefix), bytes);
}

/** The first `prefixLength` bits of `network`, the other bits of `host`. */
export function joinedAt(prefixLength: number, network: Uint8Array, host: Uint8Array): Address {
  const joined = network.map((byte, index) => {
    const mask = prefixMask(index, prefixLength);
    return (byte & mask) | ((host[index] ?? 0) & ~mask);
  });
  const address = addressFromBytes(joined);
  if (!address) throw new Error("an IPv6 address has 16 bytes");
  return address;
}

/** The bits of one byte that belong to the prefix. */
const prefixMask = (index: number, prefixLength: number): number =>
  (0xff << (8 - Math.min(8, Math.max(0, prefixLength - 8 * index)))) & 0xff;
