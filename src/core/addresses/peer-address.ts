import { addressBytes, parseAddress, parseIpv6 } from "./address.ts";
import { isInNetwork, type Network } from "./network.ts";

/** The other side of a socket, as the socket reports it. An unknown one is in no network. */
export function comesFrom(peer: string | undefined, networks: readonly Network[]): boolean {
  const address = peer === undefined ? undefined : parseAddress(plainAddress(peer));
  return address !== undefined && networks.some((network) => isInNetwork(address, network));
}

/** Whose guesses are counted together: an IPv4 address, or the /64 around an IPv6 address, all of which its holder has. */
export function householdOf(peer: string): string {
  const address = parseIpv6(plainAddress(peer));
  return address === undefined ? plainAddress(peer) : addressBytes(address).subarray(0, 8).join(":");
}

/** Link-local addresses come with their zone. */
export const plainAddress = (peer: string): string => unmapped(peer).replace(/%.*$/, "");

/** A socket that takes both families shows IPv4 as `::ffff:192.0.2.1`. */
export const unmapped = (peer: string): string => peer.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

export const isLoopback = (peer: string): boolean =>
  peer.startsWith("127.") || peer === "::1" || peer.startsWith("::ffff:127.");
