import type { Instant } from "../../core/instant.ts";
import type { NewProvider, PublishedSet, PublishedSetChange, PublishedZone, StoredProvider, Zone } from "../model.ts";

/** The part of a store that is about zones that are published at a provider. */
export type FrontStore = {
  readonly addProvider: (provider: NewProvider) => Promise<StoredProvider | "name-taken">;
  /** Of all accounts, or of one. */
  readonly providers: (account?: number) => Promise<readonly StoredProvider[]>;
  readonly replaceProviderToken: (id: number, sealed: string, now: Instant) => Promise<boolean>;
  readonly removeProvider: (id: number) => Promise<boolean>;

  /**
   * Zones for which there is a `PublishedZone`, of all accounts or of one. Only those with settings for it are
   * published.
   */
  readonly publishedZones: (account?: number) => Promise<readonly (readonly [Zone, PublishedZone])[]>;
  /**
   * Those of an account that need attention: nothing can be sent, a set is refused or was changed at the provider, or
   * sets wait that were written before `writtenBefore`.
   */
  readonly unsettledZones: (
    account: number,
    writtenBefore: Instant,
    limit: number,
  ) => Promise<readonly (readonly [Zone, PublishedZone])[]>;
  readonly publishedZone: (zone: number) => Promise<PublishedZone | undefined>;
  /** False if there is one already: the zone is being published, or its last publication has not ended yet. */
  readonly beginPublishing: (zone: number, first: PublishedZone) => Promise<boolean>;
  readonly notePublishedZone: (zone: number, note: Partial<PublishedZone>) => Promise<void>;
  readonly forgetPublished: (zone: number) => Promise<void>;

  /** In the order of owners and types, after the given one. */
  readonly publishedSetsAfter: (
    zone: number,
    after: Pick<PublishedSet, "owner" | "type"> | undefined,
    limit: number,
  ) => Promise<readonly PublishedSet[]>;
  /** All sets of these owners. */
  readonly publishedSetsAt: (zone: number, owners: readonly string[]) => Promise<readonly PublishedSet[]>;
  /** In one transaction. A set about which nothing is known that a missing row would not say as well is removed. */
  readonly putPublishedSets: (zone: number, sets: readonly PublishedSet[]) => Promise<void>;
  /** Leaves out each row that is no longer what it was before. Returns the sets whose rows were replaced. */
  readonly replacePublishedSets: (
    zone: number,
    changes: readonly PublishedSetChange[],
  ) => Promise<readonly Pick<PublishedSet, "owner" | "type">[]>;
  /** How many sets of these zones there is a `PublishedSet` for. */
  readonly knownSets: (zones: readonly number[]) => Promise<number>;
  /** How many sets of each zone are refused, or were changed at the provider. */
  readonly troubledSets: (zones: readonly number[]) => Promise<readonly TroubledSets[]>;

  /** The serials of the zone whose actions are running. */
  readonly publishingSerials: (zone: number) => Promise<readonly number[]>;
  /** Ends the running actions of zones that are no longer published. */
  readonly endStrayPublishing: (now: Instant, error: string) => Promise<void>;
  /** Ends the running actions of these serials; without an error, they were successful. */
  readonly endPublishing: (zone: number, serials: readonly number[], now: Instant, error?: string) => Promise<void>;
};

export type TroubledSets = { readonly zone: number; readonly refused: number; readonly drifted: number };
