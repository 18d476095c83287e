import { type Address, addressBytes, addressFromBytes, parseAddress } from "../../../core/addresses/address.ts";
import { type Network, parseNetwork, sharesPrefix } from "../../../core/addresses/network.ts";
import { plainAddress } from "../../../core/addresses/peer-address.ts";
import { isUnreachable, scopeOf } from "../../../core/addresses/scope.ts";
import { labelsOf, parseName } from "../../../core/names/name.ts";
import type { Host, WantedAddresses } from "../../commands/requests.ts";

export type DyndnsRequest =
  | { readonly kind: "update"; readonly hosts: readonly Host[]; readonly wanted: WantedAddresses }
  | { readonly kind: "no-host" }
  | { readonly kind: "too-many-hosts" }
  | { readonly kind: "offline" }
  | { readonly kind: "no-address"; readonly reason: string };

const maximumHosts = 20;

/**
 * The dyndns2 protocol. `myip` and `myipv6` may each hold addresses of either family, separated by commas; empty
 * parameters count as not given. Without any, the caller's address is used if others can reach it.
 */
export function readDyndns(query: Readonly<Record<string, unknown>>, caller: string): DyndnsRequest {
  const names = words(query.hostname);
  if (names.length === 0) return { kind: "no-host" };
  if (names.length > maximumHosts) return { kind: "too-many-hosts" };
  if (words(query.offline).some((word) => word.toUpperCase() === "YES")) return { kind: "offline" };
  const addressTexts = [...words(query.myip), ...words(query.myipv6)];
  const { wanted, faults } = readWanted(addressTexts.length > 0 ? addressTexts : [plainAddress(caller)]);
  if (faults.length === 0) return { kind: "update", hosts: names.map(readHost), wanted };
  return {
    kind: "no-address",
    reason: `${faults.join("; ")}${addressTexts.length > 0 ? "" : ": send an address as myip"}`,
  };
}

/**
 * An address that cannot be published is a fault only if nothing else can be: a router whose IPv4 line is down sends
 * 0.0.0.0 beside its IPv6 address. An address takes precedence over a prefix.
 */
function readWanted(texts: readonly string[]): {
  readonly wanted: WantedAddresses;
  readonly faults: readonly string[];
} {
  const uniqueAddresses = {
    ipv4: new Map<string, Address>(),
    ipv6: new Map<string, Address>(),
    prefix: new Map<string, Network>(),
  };
  const unusable: string[] = [];
  for (const text of texts) {
    const address = parsePlainAddress(text);
    const prefix = text.includes("/") ? parseNetwork(text) : undefined;
    const start = address ?? (prefix?.family === "ipv6" ? addressFromBytes(prefix.bytes) : undefined);
    if (start === undefined) unusable.push(`${JSON.stringify(text.slice(0, 60))} is not an address`);
    else if (isUnreachable(scopeOf(start)) || isForTheFuture(start)) unusable.push(`${text} cannot be published`);
    else if (address !== undefined) uniqueAddresses[address.family].set(address.text, address);
    else if (prefix !== undefined) uniqueAddresses.prefix.set(`${start.text}/${prefix.length}`, prefix);
  }
  const several = Object.values(uniqueAddresses).filter((each) => each.size > 1);
  const [ipv4, ipv6, prefix] = [
    first(uniqueAddresses.ipv4),
    first(uniqueAddresses.ipv6),
    first(uniqueAddresses.prefix),
  ];
  const six = ipv6 ?? (prefix && { prefix });
  const faults = several.map((each) => `${[...each.keys()].join(" and ")} are of one family: send one of them`);
  if (ipv4 === undefined && six === undefined) faults.push(...unusable);
  return { wanted: { ...(ipv4 && { ipv4 }), ...(six && { ipv6: six }) }, faults };
}

/** 240.0.0.0/4 was never given to anybody (RFC 1112, 4): no host has such an address. */
const isForTheFuture = (address: Address): boolean =>
  address.family === "ipv4" && unassigned !== undefined && sharesPrefix(addressBytes(address), unassigned);

const unassigned = parseNetwork("240.0.0.0/4");

const first = <T>(values: ReadonlyMap<string, T>): T | undefined => values.values().next().value;

/** An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is an IPv4 address. */
function parsePlainAddress(text: string): Address | undefined {
  const address = parseAddress(text);
  if (address?.family !== "ipv6" || mapped === undefined) return address;
  const bytes = addressBytes(address);
  return sharesPrefix(bytes, mapped) ? addressFromBytes(bytes.subarray(12)) : address;
}

const mapped = parseNetwork("::ffff:0:0/96");

function readHost(text: string): Host {
  const name = parseName(text);
  return name.ok && labelsOf(name.value).length >= 2 ? name.value : undefined;
}

/** A repeated key counts as one list. */
const words = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) =>
    typeof each === "string"
      ? each
          .split(",")
          .map((word) => word.trim())
          .filter((word) => word !== "")
      : [],
  );
