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
export function householdOf(peer: string): string {
  const address = parseIpv6(plainAddress(peer));
  return address === undefined ? plainAddress(peer) : addressBytes(address).subarray(0, 8).join(":");
}

/** Sockets report link-local addresses with their zone (`%eth0`). */
export const plainAddress = (peer: string): string => unmapped(peer).replace(/%.*$/, "");

/** A dual-stack socket reports IPv4 addresses as `::ffff:192.0.2.1`. */
export const unmapped = (peer: string): string => peer.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

export const isLoopback = (peer: string): boolean =>
  peer.startsWith("127.") || peer === "::1" || peer.startsWith("::ffff:127.");
