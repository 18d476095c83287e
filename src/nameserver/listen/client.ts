import { addressBytes, parseAddress } from "../../core/addresses/address.ts";
import { plainAddress } from "../../core/addresses/peer-address.ts";

/** Whom a datagram came from. */
export type Client = {
  /** 4 or 16 bytes; an IPv4 client of a socket for both families has 4. */
  readonly address: Uint8Array;
  /** A number for its network: limits count by it. */
  readonly network: number;
  /** Clients on this machine have no limits: a forwarder here asks for many others. */
  readonly isLocal: boolean;
  /** The address, for rules about clients. */
  readonly text: string;
};

/** The address as a socket reports it; four zeros for what is not an address. */
export function clientAddress(text: string): Uint8Array {
  return quadBytes(text) ?? otherBytes(text);
}

function otherBytes(text: string): Uint8Array {
  const address = parseAddress(plainAddress(text));
  return address ? addressBytes(address) : new Uint8Array(4);
}

/** A loop instead of `parseAddress`, which takes five times as long: each datagram comes here. */
function quadBytes(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  let place = 0;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x2e) {
      bytes[place++] = value;
      value = 0;
    } else if (code >= 0x30 && code <= 0x39) {
      value = value * 10 + code - 0x30;
    } else {
      return undefined;
    }
  }
  bytes[place] = value;
  return bytes;
}

export function clientFromText(text: string, seed: number): Client {
  const address = clientAddress(text);
  const { length } = address;
  return { address, network: networkAt(address, 0, length, seed), isLocal: isLoopbackAt(address, 0, length), text };
}

/**
 * A hash of roughly the block that a provider assigns to one customer: an IPv4 /24, an IPv6 /56. The address is the
 * `length` bytes from `at`; the seed makes it hard to guess which networks have the same hash.
 */
export function networkAt(bytes: Uint8Array, at: number, length: number, seed: number): number {
  const end = at + (length === 4 ? 3 : 7);
  let hash = (0x811c9dc5 ^ seed ^ length) | 0;
  for (let i = at; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return mixed(hash);
}

export function isLoopbackAt(bytes: Uint8Array, at: number, length: number): boolean {
  if (length === 4) return bytes[at] === 127;
  for (let i = at; i < at + 15; i++) if (bytes[i] !== 0) return false;
  return bytes[at + 15] === 1;
}

/** Spreads a hash over all bits. Never zero. */
export function mixed(state: number): number {
  const hash = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}
