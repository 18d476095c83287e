import { type Address, addressBytes, type Family, parseAddress } from "./address.ts";

/** All addresses whose first `length` bits equal those of `bytes`. */
export type Network = { readonly family: Family; readonly bytes: Uint8Array; readonly length: number };

/** `192.0.2.0/24`, `2001:db8::/32`, or a single address. Bits after the prefix are ignored. */
export function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf("/");
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const width = address.family === "ipv4" ? 32 : 128;
  const length = slash < 0 ? width : prefixLength(text.slice(slash + 1));
  if (length === undefined || length > width) return undefined;
  return { family: address.family, bytes: addressBytes(address), length };
}

export function isInNetwork(address: Address, network: Network): boolean {
  return address.family === network.family && sharesPrefix(addressBytes(address), network);
}

/** For checking one address against many networks: its bytes are computed only once. The family must be the same. */
export function sharesPrefix(bytes: Uint8Array, network: Network): boolean {
  const whole = network.length >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== network.bytes[i]) return false;
  const rest = network.length & 7;
  return rest === 0 || (((bytes[whole] ?? 0) ^ (network.bytes[whole] ?? 0)) & (0xff << (8 - rest)) & 0xff) === 0;
}

const prefixLength = (text: string): number | undefined =>
  /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : undefined;
