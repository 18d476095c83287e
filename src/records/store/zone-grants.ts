import type { Instant } from "../../core/instant.ts";
import type { Consent } from "../../core/names/zone-neighbours.ts";

/** Who may have zones inside or above zones of other accounts, or of names that no account should hold alone. */
export type GrantStore = {
  /** The one that is there when the same was granted before; `"no-zone"` when the zone is gone. */
  readonly addGrant: (grant: NewGrant) => Promise<Grant | "no-zone">;
  /** Those of one zone, or all, the operator's too; the oldest first. */
  readonly grants: (query: { readonly zone?: number }) => Promise<readonly Grant[]>;
  /** True when it was there. With a zone: only when it is one of that zone. Zones that were made with it stay. */
  readonly revokeGrant: (id: number, zone?: number) => Promise<boolean>;
};

export type NewGrant = Consent & {
  /** Who granted it. */
  readonly actor: string;
  readonly created: Instant;
};

export type Grant = NewGrant & {
  readonly id: number;
  readonly accountName: string;
  readonly zoneName: string | undefined;
};
