import { type Address, addressBytes } from "./address.ts";
import { type Network, parseNetwork, sharesPrefix } from "./network.ts";

/** From where an address can be reached. Only `global` addresses can be reached from everywhere. */
export type AddressScope =
  | "global"
  | "private"
  | "cgnat"
  | "ula"
  | "link-local"
  | "loopback"
  | "unspecified"
  | "this-network"
  | "multicast"
  | "broadcast"
  | "documentation"
  | "reserved";

/** An IPv6 address with an embedded IPv4 address reaches no further than that one. */
export function scopeOf(address: Address): AddressScope {
  const bytes = addressBytes(address);
  if (address.family === "ipv4") return scopeIn(networks4, bytes);
  const own = scopeIn(networks6, bytes);
  const inside = ipv4Inside(bytes);
  if (inside === undefined || own === "unspecified" || own === "loopback") return own;
  const carried = scopeIn(networks4, inside);
  return own === "global" || isUnreachable(carried) ? carried : own;
}

export type UnreachableScope = "unspecified" | "this-network" | "loopback" | "link-local" | "multicast" | "broadcast";

/** No other machine, or none beyond the same link, can ever reach these. */
export const isUnreachable = (scope: AddressScope): scope is UnreachableScope => unreachable.has(scope);

const unreachable: ReadonlySet<AddressScope> = new Set<UnreachableScope>([
  ...(["unspecified", "this-network", "loopback", "link-local", "multicast", "broadcast"] as const),
]);

/** The first matching row decides; ranges from the IANA special-purpose address registries. */
const ranges4: readonly (readonly [string, AddressScope])[] = [
  ["0.0.0.0/32", "unspecified"],
  ["0.0.0.0/8", "this-network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "cgnat"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "reserved"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "reserved"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
];

const ranges6: readonly (readonly [string, AddressScope])[] = [
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::ffff:0:0/96", "reserved"],
  ["64:ff9b::/96", "reserved"],
  ["64:ff9b:1::/48", "reserved"],
  ["100::/64", "reserved"],
  ["2001::/23", "reserved"],
  ["2001:db8::/32", "documentation"],
  ["3fff::/20", "documentation"],
  ["2000::/3", "global"],
  ["fc00::/7", "ula"],
  ["fe80::/10", "link-local"],
  ["ff00::/8", "multicast"],
  ["::/0", "reserved"],
];

type Inside = (bytes: Uint8Array) => Uint8Array;

const lastFour: Inside = (bytes) => bytes.subarray(12);
/**
 * RFC 6052, 2.2: with a /48 prefix the address follows the prefix, skipping byte 8; otherwise a /96 is assumed, with
 * the address at the end.
 */
const localNat64: Inside = (bytes) =>
  bytes.subarray(11).some((byte) => byte !== 0)
    ? lastFour(bytes)
    : Uint8Array.from([6, 7, 9, 10], (i) => bytes[i] ?? 0);

/**
 * Where an IPv4 address is embedded in an IPv6 address. ISATAP is missing on purpose: there the prefix decides who can
 * reach the address, and the IPv4 address matters only inside the site.
 */
const carriers: readonly (readonly [Network, Inside])[] = [
  [network("::/96"), lastFour], // IPv4-compatible: RFC 4291, 2.5.5.1
  [network("::ffff:0:0/96"), lastFour], // IPv4-mapped: RFC 4291, 2.5.5.2
  [network("::ffff:0:0:0/96"), lastFour], // IPv4-translated: RFC 2765
  [network("64:ff9b::/96"), lastFour], // NAT64: RFC 6052
  [network("64:ff9b:1::/48"), localNat64], // NAT64 for local use: RFC 8215
  [network("2002::/16"), (bytes) => bytes.subarray(2, 6)], // 6to4: RFC 3056
  [network("2001::/32"), (bytes) => bytes.subarray(12).map((byte) => byte ^ 0xff)], // Teredo: RFC 4380, 4
];

const ipv4Inside = (bytes: Uint8Array): Uint8Array | undefined =>
  carriers.find(([network]) => sharesPrefix(bytes, network))?.[1](bytes);

const networks4 = ranges4.map(([text, scope]) => [network(text), scope] as const);
const networks6 = ranges6.map(([text, scope]) => [network(text), scope] as const);

const scopeIn = (networks: readonly (readonly [Network, AddressScope])[], bytes: Uint8Array): AddressScope =>
  networks.find(([network]) => sharesPrefix(bytes, network))?.[1] ?? "global";

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (parsed === undefined) throw new Error(`not a network: ${text}`);
  return parsed;
}
