import type { Fault } from "../result.ts";
import { type Address, addressBytes, addressFromBytes } from "./address.ts";
import { isInNetwork, type Network, parseNetwork, sharesPrefix } from "./network.ts";
import { type AddressScope, scopeOf } from "./scope.ts";

/**
 * Whether a secondary zone may be transferred from this address. Account holders choose the addresses, and the service
 * connects to them from inside the operator's network: addresses that are not reachable from the internet need the
 * operator's permission.
 */
export function mayBePrimary(address: Address, allowed: readonly Network[]): boolean {
  const inside = embeddedIpv4(address) ?? address;
  if (reachable.has(scopeOf(inside))) return true;
  return allowed.some((network) => isInNetwork(address, network) || isInNetwork(inside, network));
}

/** The fault of an address that is not allowed as a primary. */
export function primaryFaults(address: Address, where: string, allowed: readonly Network[]): readonly Fault[] {
  if (mayBePrimary(address, allowed)) return [];
  const message = `${address.text} is not a public address`;
  const todo = `use a public address, or ask the operator to allow this one with --allow-primary ${address.text}`;
  return [{ code: "private-address", where, message, todo }];
}

/** Documentation addresses belong to nobody: they are harmless, and examples work as written. */
const reachable: ReadonlySet<AddressScope> = new Set(["global", "documentation"]);

/**
 * From 1 to 65535, also as text; undefined for anything else. Every port is allowed, because not all primaries run on
 * port 53.
 */
export function portOf(value: unknown): number | undefined {
  const port = typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : value;
  return typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}

/** A packet to such an IPv6 address is delivered to the IPv4 address that starts at this byte. */
const carriers: readonly (readonly [string, number])[] = [
  // IPv4-mapped (RFC 4291 section 2.5.5.2).
  ["::ffff:0:0/96", 12],
  // NAT64 (RFC 6052 section 2.1).
  ["64:ff9b::/96", 12],
  // 6to4 (RFC 3056 section 2).
  ["2002::/16", 2],
];

const networks = carriers.flatMap(([text, at]) => {
  const network = parseNetwork(text);
  return network ? [{ network, at }] : [];
});

function embeddedIpv4(address: Address): Address | undefined {
  if (address.family === "ipv4") return undefined;
  const bytes = addressBytes(address);
  const carrier = networks.find(({ network }) => sharesPrefix(bytes, network));
  return carrier && addressFromBytes(bytes.subarray(carrier.at, carrier.at + 4));
}
