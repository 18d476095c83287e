import type { Instant } from "../../../core/instant.ts";
import type { WriteRule } from "../../store/port.ts";

/** Signs some names of a zone again. */
export type RenewNames = {
  readonly kind: "renew-names";
  readonly account: number;
  readonly zone: string;
  readonly owners: readonly string[];
  readonly now: Instant;
};

export function renewNamesRule(command: RenewNames): WriteRule<undefined> {
  const { account, zone, owners, now } = command;
  return {
    kind: "write",
    request: { account, at: { zone }, owners: () => owners, actor: "moor", now, command },
    decide: () => ({ wanted: undefined, renew: owners, result: undefined }),
  };
}
