import { withFittingExpire } from "../../../core/dnssec/soa-expire.ts";
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
    request: { account, at: { zone }, owners: () => owners, actor: "moor", now },
    decide: ({ sets }) => {
      // A zone may have been signed by a version that left the SOA record as it was.
      const fitting = withFittingExpire(sets);
      return { wanted: fitting === sets ? undefined : fitting, renew: owners, result: undefined };
    },
  };
}
