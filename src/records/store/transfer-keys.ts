import type { Instant } from "../../core/instant.ts";
import type { NewTransferKey, SecondaryNote, SecondaryState, TransferKey, Zone } from "../model.ts";

/** What the store keeps for other nameservers: TSIG keys, the list of all zones, and the state of secondary zones. */
export type TransferStore = {
  /**
   * `most`: how many may be in force, of the account or for the zones of all. Deletes those that were revoked 90 days
   * ago.
   */
  readonly addTransferKey: (key: NewTransferKey, most?: number) => Promise<TransferKey | "name-taken" | "too-many">;
  /** Undefined also if it was revoked. */
  readonly transferKey: (name: string) => Promise<TransferKey | undefined>;
  readonly transferKeys: () => Promise<readonly TransferKey[]>;
  /** True if the key was valid and is now revoked. Its name can then be used again. */
  readonly revokeTransferKey: (name: string, now: Instant) => Promise<boolean>;

  /** Zones of all accounts in the order of their numbers, after `after`. */
  readonly everyZone: (after: number, limit: number) => Promise<readonly ZoneNumber[]>;
  /** The secondary zones of all accounts. */
  readonly secondaryZones: () => Promise<readonly Zone[]>;
  /** The states of those zones that were transferred at least once, by zone number. */
  readonly secondaryStates: (zones: readonly Zone[]) => Promise<ReadonlyMap<number, SecondaryState>>;
  readonly noteSecondary: (zone: Zone, state: SecondaryNote) => Promise<void>;
};

export type ZoneNumber = { readonly number: number; readonly name: string; readonly recordCount: number };
