import type { Address, Family } from "./address.ts";
import { type AddressScope, isUnreachable, scopeOf, type UnreachableScope } from "./scope.ts";

/**
 * The last check before an address is published. Addresses of the refused scopes can never be reached from another
 * network. Other addresses that are not global work inside some network, so they are published with a warning, unless
 * the config requires public addresses.
 */
export type GateVerdict =
  | { readonly kind: "pass" }
  | { readonly kind: "warn"; readonly scope: WarnedScope }
  | { readonly kind: "refuse"; readonly because: UnfitScope | "wrong-family" };

export type UnfitScope = Exclude<AddressScope, "global">;
export type WarnedScope = Exclude<UnfitScope, UnreachableScope>;

/** What to do with an address that is reachable only inside some network. */
export type PublicRule = "warn" | "require";

export function gate(address: Address, family: Family, rule: PublicRule = "warn"): GateVerdict {
  if (address.family !== family) return { kind: "refuse", because: "wrong-family" };
  const scope = scopeOf(address);
  if (isUnreachable(scope)) return { kind: "refuse", because: scope };
  if (scope === "global") return { kind: "pass" };
  return rule === "require" ? { kind: "refuse", because: scope } : { kind: "warn", scope };
}
