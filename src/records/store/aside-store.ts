import type { NameChange, StoredSignedNames } from "../../core/dnssec/plan-signing.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Zone } from "../model.ts";
import type { RecordStore } from "./port.ts";

/**
 * What signing the names of a zone aside needs from a store. Every call is one short read or transaction. `number` is
 * the one under which the names are stored; until a zone uses it, nobody reads them.
 */
export type AsideStore = Pick<RecordStore, "lastChange" | "setKeysAfter" | "encryptedKeys"> & {
  readonly setsOf: (zone: Zone, owners: readonly string[]) => Promise<readonly RRset[]>;
  /**
   * The owners in the first `limit` changes of a zone after a position, and the position of the last of these changes.
   */
  readonly changedSince: (zone: Zone, position: number, limit: number) => Promise<Missed>;
  /** The names at these owners and above them, and their neighbours in the chain. */
  readonly namesNear: (zone: Zone, owners: readonly string[]) => Promise<StoredSignedNames>;
  readonly newNumber: () => Promise<number>;
  /** False if the number is not reserved any more, because nothing was written for long. */
  readonly putNames: (number: number, names: readonly NameChange[]) => Promise<boolean>;
  /** What is stored under the number is deleted later. */
  readonly abandon: (number: number) => Promise<unknown>;
};

export type Missed = { readonly owners: ReadonlySet<string>; readonly position: number; readonly isAll: boolean };
