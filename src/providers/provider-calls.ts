import type { Lookup } from "./answers/service-fault.ts";
import type { WriteAnswer } from "./answers/write-answer.ts";
import type { LastStep } from "./last-step.ts";

/** All records of one name and type. */
export type SetName = {
  readonly zone: string;
  /** Relative to the zone, and canonical; `@` for the zone itself. */
  readonly name: string;
  /** By its name: `A`, `TXT`, `SSHFP`; `TYPE65280` if it has none. */
  readonly type: string;
};

export type CurrentContent = {
  /** In the format of zone files, names with a trailing dot. */
  readonly values: readonly string[];
  /** Null if the record uses the zone's TTL. */
  readonly ttl: number | null;
  /** Each value is a record of its own, and they differ in their TTL; `ttl` is that of the first. */
  readonly hasMixedTtl?: boolean;
  /** Cloudflare answers with addresses of its own. */
  readonly proxied?: true;
};

/** What a set holds, and what its API needs to write it again without losing anything: ids, flags, comments. */
export type CurrentSet<Raw> = CurrentContent & { readonly raw: Raw };

export type ListedZone = {
  readonly id: string;
  readonly name: string;
  readonly ttl?: number;
  readonly lowestTtl?: number;
};

export type ListedSet<Raw> = CurrentSet<Raw> &
  Omit<SetName, "zone"> & {
    /** Values that are stored, but not served. */
    readonly disabled?: readonly string[];
  };

export type SetContent = {
  readonly values: readonly string[];
  /** Undefined: the set keeps its TTL, and a new one gets the usual one of the service. Null: the zone's. */
  readonly ttl: number | null | undefined;
  /** Of a new set. */
  readonly proxied?: true;
};

export type ProviderSetChange<Raw> = {
  readonly set: SetName;
  /** Undefined: the set is deleted. */
  readonly content: SetContent | undefined;
  /**
   * What a read has just shown: `missing` if there was no such set, undefined if it was not read. A service that knows
   * conditions writes only if this is still so.
   */
  readonly before?: CurrentSet<Raw> | "missing" | undefined;
  /** A set that was not read is replaced, but not created. */
  readonly onlyExisting?: boolean | undefined;
};

/**
 * Where a provider is, and the token for it: a function, so that it can be replaced, and no log shows it by mistake.
 */
export type ProviderAccount = { readonly url: URL; readonly token: () => string };

/** What a provider allows, as far as it is known before a request. */
export type ProviderRules = {
  readonly ttl: {
    /** `byZone`: a zone may have another one, which the list of zones has. */
    readonly lowest: number;
    readonly byZone?: boolean;
    readonly highest: number;
    /** A set may have none, and uses the zone's, or `automatic`, if that is the same everywhere. */
    readonly zoneDefault: boolean;
    readonly automatic?: number;
  };
  /** The types that it stores, by name; undefined if it stores all of them. */
  readonly types?: readonly string[] | undefined;
  /** Values of one set. */
  readonly mostValues: number;
  /** Sets of one transaction; 1 if it has none. What is sent together is stored together, or not at all. */
  readonly mostSets: number;
  /** Whether a write needs to know what the set holds. If the caller does not say so, the set is read first. */
  readonly needsBefore: boolean;
  /** A set is written by several requests: after a lost answer, it may hold a part of what was sent. */
  readonly writesInSteps?: boolean;
  /** It cannot read a single set, so reading one costs as much as reading all of them. */
  readonly readsWholeZone?: boolean;
  /** The provider's documented limit for the requests of one token. */
  readonly budget?: { readonly requests: number; readonly seconds: number } | undefined;
  /** Its limits for writes are those of each zone, so a `Retry-After` stops that zone only. */
  readonly waitsPerZone?: boolean;
};

/** The calls that differ from provider to provider. No method throws because of an answer. */
export type ProviderCalls<Raw = unknown> = {
  /** Its name in messages. */
  readonly service: string;
  readonly rules: ProviderRules;
  zones(signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>>;
  /** All sets of the zone, over all pages. Half of them would look like missing sets, so it is all or a fault. */
  sets(zone: string, signal: AbortSignal): Promise<Lookup<readonly ListedSet<Raw>[]>>;
  /** Undefined if the zone exists, but the set does not. */
  read(set: SetName, signal: AbortSignal): Promise<Lookup<CurrentSet<Raw> | undefined>>;
  /**
   * Writes up to `mostSets` changes of one zone: all or nothing. Returns the stored sets in the order of the changes,
   * as far as the answer has them. To delete a set that does not exist is no fault.
   */
  write(
    zone: string,
    changes: readonly ProviderSetChange<Raw>[],
    signal: AbortSignal,
  ): Promise<WriteAnswer<readonly (CurrentContent | undefined)[]>>;
  /**
   * The bytes or items of one change, and of the largest transaction, if there is another limit than the number of
   * sets.
   */
  readonly batch?: { sizeOf(change: ProviderSetChange<Raw>): number; readonly most: number };
  /** Only for services where a change is not yet served when it is stored. */
  readonly lastStep?: LastStep;
  close(): void;
};
