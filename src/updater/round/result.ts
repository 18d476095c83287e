import type { Confirmation } from "../targets/confirm-dns.ts";
import type { Held, WriteOutcome } from "../targets/target.ts";
import type { PlannedUpdate } from "./plan.ts";

/** What became of one planned update. */
export type UpdateResult = PlannedUpdate & {
  readonly outcome?: WriteOutcome | { readonly kind: "same" };
  /** Begun, and not ended when the round was; or its turn at the service has not come yet. */
  readonly underWay?: true;
  /** What the record held, where it was read before it was written. */
  readonly found?: Held;
  /** The record is right, but that could not be put on disk. */
  readonly unsaved?: string | undefined;
  /** Where the config asks for it: whether DNS answers with the new address. It takes its time and holds nobody up. */
  readonly confirmation?: Promise<Confirmation>;
};
