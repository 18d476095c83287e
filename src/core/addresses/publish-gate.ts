import type { Address, Family } from "./address.ts";
import { isUnreachable, type Scope, scopeOf, type UnreachableScope } from "./scope.ts";

/**
 * The last question before an address goes into DNS. Nobody could ever use an address of the refused scopes from another
 * machine; the others that are not global work inside some network, so they are published as spec 4.7 says, and said aloud,
 * unless the config asks for public addresses only.
 */
export type GateVerdict =
  | { readonly kind: "pass" }
  | { readonly kind: "warn"; readonly scope: WarnedScope }
  | { readonly kind: "refuse"; readonly because: UnfitScope | "wrong-family" };

export type UnfitScope = Exclude<Scope, "global">;
export type WarnedScope = Exclude<UnfitScope, UnreachableScope>;

/** What becomes of an address that only some network can reach. */
export type PublicRule = "warn" | "require";

export function gate(address: Address, family: Family, rule: PublicRule = "warn"): GateVerdict {
  if (address.family !== family) return { kind: "refuse", because: "wrong-family" };
  const scope = scopeOf(address);
  if (isUnreachable(scope)) return { kind: "refuse", because: scope };
  if (scope === "global") return { kind: "pass" };
  return rule === "require" ? { kind: "refuse", because: scope } : { kind: "warn", scope };
}
