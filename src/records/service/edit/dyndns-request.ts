import { type Address, parseAddress } from "../../../core/addresses/address.ts";
import { type Network, parseNetwork } from "../../../core/addresses/network.ts";
import { unmapped } from "../../../core/addresses/peer-address.ts";
import { scopeOf } from "../../../core/addresses/scope.ts";
import { labelsOf, parseName } from "../../../core/names/name.ts";

/** The addresses that a router requests for its hosts. A prefix replaces the network part of a host's addresses. */
export type WantedAddresses = {
  readonly ipv4?: Address;
  readonly ipv6?: Address | { readonly prefix: Network };
};

export type DyndnsRequest =
  | { readonly kind: "update"; readonly hosts: readonly Host[]; readonly wanted: WantedAddresses }
  | { readonly kind: "no-host" }
  | { readonly kind: "too-many-hosts" }
  | { readonly kind: "bad-address" }
  | { readonly kind: "caller-without-address"; readonly caller: string };

/** Undefined: not a fully qualified name. */
export type Host = string | undefined;

const maximumHosts = 20;

/**
 * The dyndns2 protocol. `myip` and `myipv6` may each hold several addresses of either family, separated by commas; empty parameters
 * count as not given. Without any, the caller's address is used if others can reach it.
 */
export function readDyndns(query: Readonly<Record<string, unknown>>, caller: string): DyndnsRequest {
  const names = words(query.hostname);
  if (names.length === 0) return { kind: "no-host" };
  if (names.length > maximumHosts) return { kind: "too-many-hosts" };
  const texts = [...words(query.myip), ...words(query.myipv6)];
  if (texts.length === 0 && isHere(unmapped(caller))) return { kind: "caller-without-address", caller };
  const wanted = readWanted(texts.length > 0 ? texts : [unmapped(caller)]);
  return wanted === undefined ? { kind: "bad-address" } : { kind: "update", hosts: names.map(readHost), wanted };
}

/** The caller is on this machine, or behind a proxy on it whose headers are not trusted. Nobody else could use that address. */
function isHere(caller: string): boolean {
  const address = parseAddress(caller);
  return address !== undefined && ["loopback", "unspecified", "link-local"].includes(scopeOf(address));
}

/** An address takes precedence over a prefix; of two addresses in one family the last one counts. */
function readWanted(texts: readonly string[]): WantedAddresses | undefined {
  let ipv4: Address | undefined;
  let ipv6: Address | undefined;
  let prefix: Network | undefined;
  for (const text of texts) {
    const address = parseAddress(text);
    const network = text.includes("/") ? parseNetwork(text) : undefined;
    if (address?.family === "ipv4") ipv4 = address;
    else if (address !== undefined) ipv6 = address;
    else if (network?.family === "ipv6") prefix = network;
    else return undefined;
  }
  const six = ipv6 ?? (prefix && { prefix });
  return { ...(ipv4 && { ipv4 }), ...(six && { ipv6: six }) };
}

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
