import { type Address, addressBytes } from "./address.ts";
import { type Network, parseNetwork, sharesPrefix } from "./network.ts";

/** How far an address reaches. Only `global` can be reached from everywhere. */
export type Scope =
  | "global"
  | "private"
  | "cgnat"
  | "ula"
  | "link-local"
  | "loopback"
  | "unspecified"
  | "multicast"
  | "documentation"
  | "reserved";

export function scopeOf(address: Address): Scope {
  const bytes = addressBytes(address);
  const networks = address.family === "ipv4" ? networks4 : networks6;
  return networks.find(([network]) => sharesPrefix(bytes, network))?.[1] ?? "global";
}

/** The first matching row decides; ranges from the IANA special-purpose address registries. */
const ranges4: readonly (readonly [string, Scope])[] = [
  ["0.0.0.0/32", "unspecified"],
  ["0.0.0.0/8", "reserved"],
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
  ["240.0.0.0/4", "reserved"],
];

const ranges6: readonly (readonly [string, Scope])[] = [
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

const networks4 = ranges4.map(([text, scope]) => [network(text), scope] as const);
const networks6 = ranges6.map(([text, scope]) => [network(text), scope] as const);

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (parsed === undefined) throw new Error(`not a network: ${text}`);
  return parsed;
}
