import type { Address, Family } from "./address.ts";
import { type Scope, scopeOf } from "./address-scope.ts";

/**
 * The last question before an address goes into DNS. Nobody could ever use an address of the refused scopes from another
 * machine; the warned ones work inside some network, so they are published as spec 4.7 says, and said aloud.
 */
export type GateVerdict =
  | { readonly kind: "pass" }
  | { readonly kind: "warn"; readonly scope: WarnedScope }
  | { readonly kind: "refuse"; readonly because: RefusedScope | "wrong-family" };

export type RefusedScope = "unspecified" | "loopback" | "link-local" | "multicast";
export type WarnedScope = Exclude<Scope, RefusedScope | "global">;

export function gate(address: Address, family: Family): GateVerdict {
  if (address.family !== family) return { kind: "refuse", because: "wrong-family" };
  const scope = scopeOf(address);
  switch (scope) {
    case "unspecified":
    case "loopback":
    case "link-local":
    case "multicast":
      return { kind: "refuse", because: scope };
    case "global":
      return { kind: "pass" };
    default:
      return { kind: "warn", scope };
  }
}
