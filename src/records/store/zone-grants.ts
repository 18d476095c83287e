import type { Grant, NewGrant } from "../model.ts";

/** Which accounts may create zones inside or above zones of other accounts, or zones with reserved names. */
export type GrantStore = {
  /** Returns the existing grant if it was granted before; `"no-zone"` if the zone was deleted. */
  readonly addGrant: (grant: NewGrant) => Promise<Grant | "no-zone">;
  /** The grants of one zone, or all grants including the operator's; oldest first. */
  readonly grants: (query: { readonly zone?: number }) => Promise<readonly Grant[]>;
  /** True if it existed; with `zone`, only if it belongs to that zone. Zones that were created with it stay. */
  readonly revokeGrant: (id: number, zone?: number) => Promise<boolean>;
};
