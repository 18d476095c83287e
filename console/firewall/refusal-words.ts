import { parseAddress } from "../../src/core/addresses/address.ts";
import type { Considered } from "../../src/core/addresses/choose-address.ts";
import { type Scope, scopeOf } from "../../src/core/addresses/scope.ts";

/** Why an updater would not take an address, for people. */
const words: Readonly<Record<Exclude<Considered["verdict"], "taken">, string>> = {
  malformed: "not an address",
  "wrong-family": "of the other family",
  unspecified: "stands for no address",
  loopback: "reaches only the machine itself",
  "link-local": "reaches only its own network segment",
  "this-network": "in 0.0.0.0/8, which no machine has",
  multicast: "stands for many machines",
  broadcast: "stands for all machines of a network",
  deprecated: "on its way out",
  tentative: "not yet known to be free",
  detached: "its router is gone",
  private: "private",
  cgnat: "of the provider’s NAT",
  ula: "unique local",
  documentation: "for documentation",
  reserved: "reserved",
  "other-vhid": "shared under another id",
  "no-prefix": "a single address without a network",
  "not-first": "not the first one listed",
  "ula-behind-global": "unique local, and there is a global one",
  "reserved-behind-others": "reserved, and there is a better one",
  "virtual-behind-own": "shared by two machines, and there is one of its own",
  "shorter-lifetime": "another one lasts longer",
  "behind-published": "as good as the one that is published",
  "later-in-report": "as good as another that comes first",
};

const warned: Readonly<Partial<Record<Scope, string>>> = {
  private: "private, nobody outside reaches it",
  cgnat: "of the provider’s NAT, nobody outside reaches it",
  ula: "unique local, nobody outside reaches it",
  documentation: "for documentation, it leads nowhere",
  reserved: "reserved",
};

export function refusalInWords(text: string, verdict: Considered["verdict"]): string {
  if (verdict !== "taken") return words[verdict];
  const warning = warningOf(text);
  return warning ? `taken, with a warning: ${warning}` : "an updater takes this one";
}

/** What is doubtful about an address that is taken all the same. */
export function warningOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && warned[scopeOf(address)];
}
