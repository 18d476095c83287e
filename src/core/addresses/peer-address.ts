import { addressBytes, parseAddress, parseIpv6 } from "./address.ts";
import { isInNetwork, type Network } from "./network.ts";

/** `peer` is the remote address as the socket reports it. An unknown one is in no network. */
export function comesFrom(peer: string | undefined, networks: readonly Network[]): boolean {
  const address = peer === undefined ? undefined : parseAddress(plainAddress(peer));
  return address !== undefined && networks.some((network) => isInNetwork(address, network));
}

/**
 * Callers counted together: an IPv4 address, or the /64 around an IPv6 address, because one customer usually has all of
 * it.
 */
export const householdOf = (peer: string): string => networksAround(peer)[0];

/** The household of a caller; around an IPv6 address then the /56 and the /48, which may be one customer's too. */
export function networksAround(peer: string): readonly [string, ...string[]] {
  const address = parseIpv6(plainAddress(peer));
  if (address === undefined) return [plainAddress(peer)];
  const bytes = addressBytes(address);
  const network = (length: number) => bytes.subarray(0, length).join(":");
  return [network(8), network(7), network(6)];
}

/** Sockets report link-local addresses with their zone (`%eth0`). */
export const plainAddress = (peer: string): string => unmapped(peer).replace(/%.*$/, "");

/** A dual-stack socket reports IPv4 addresses as `::ffff:192.0.2.1`. */
export const unmapped = (peer: string): string => peer.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

export const isLoopback = (peer: string): boolean =>
  peer.startsWith("127.") || peer === "::1" || peer.startsWith("::ffff:127.");
