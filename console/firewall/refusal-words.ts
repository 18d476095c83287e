import { parseAddress } from "../../src/core/addresses/address.ts";
import type { Considered } from "../../src/core/addresses/choose-address.ts";
import { type AddressScope, scopeOf } from "../../src/core/addresses/scope.ts";

/** Why an updater would not use an address. */
const words: Readonly<Record<Exclude<Considered["verdict"], "taken">, string>> = {
  malformed: "not an address",
  "wrong-family": "of the other address family",
  unspecified: "the unspecified address",
  loopback: "loopback, reaches only this machine",
  "link-local": "link-local, reaches only its own network segment",
  "this-network": "in 0.0.0.0/8, which no host can use",
  multicast: "a multicast address",
  broadcast: "a broadcast address",
  deprecated: "deprecated, will be removed soon",
  tentative: "tentative, not yet checked for duplicates",
  detached: "detached, its router is gone",
  private: "private",
  cgnat: "a carrier-grade NAT address",
  ula: "unique local",
  documentation: "a documentation address",
  reserved: "reserved",
  "other-vhid": "a CARP address with another VHID",
  "no-prefix": "a single address without a prefix",
  "prefix-only": "a prefix, not an address",
  "not-first": "not the first one listed",
  "ula-behind-global": "unique local, and there is a global address",
  "reserved-behind-others": "reserved, and there is a better address",
  "virtual-behind-own": "a virtual address, and the machine has its own",
  "temporary-behind-permanent": "temporary, and there is a permanent address",
  "shorter-lifetime": "another address is valid longer",
  "behind-published": "as good as the address that is already published",
  "later-in-report": "as good as another address that is listed first",
};

const warned: Readonly<Partial<Record<AddressScope, string>>> = {
  private: "private, not reachable from the internet",
  cgnat: "a carrier-grade NAT address, not reachable from the internet",
  ula: "unique local, not reachable from the internet",
  documentation: "a documentation address, not reachable from the internet",
  reserved: "reserved, not reachable from the internet",
};

export function refusalInWords(text: string, verdict: Considered["verdict"]): string {
  if (verdict !== "taken") return words[verdict];
  const warning = warningOf(text);
  return warning ? `yes, with a warning: ${warning}` : "yes";
}

/** The warning about an address that is used anyway. */
export function warningOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && warned[scopeOf(address)];
}
