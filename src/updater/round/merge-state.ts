import type { Instant } from "../../core/instant.ts";

export type StoredAddress = {
  readonly address: string;
  readonly storedAt: string;
  /** As it was in the config then; absent if there was none. */
  readonly ttl?: number;
  /** The TTL that the service set instead, if it differs: null if the record uses the zone's TTL. */
  readonly ttlKept?: number | null;
  /** Another address was sent since, with an unknown outcome: the record may hold either. */
  readonly inDoubt?: boolean;
};

/** A change of a record that was not reported to everybody yet. */
export type StoredEvent = {
  /** `home.example.org A` */
  readonly name: string;
  readonly old?: string | undefined;
  readonly new: string;
  readonly at: string;
  /** Who was told: ids of channels. */
  readonly done: readonly string[];
};

export type StateContent = {
  readonly entries: Record<string, StoredAddress>;
  readonly holds: Record<string, Instant>;
  /** How often each entry was stored, by any process. */
  readonly versions: Record<string, number>;
  /** By id, the oldest first. */
  readonly events: Record<string, StoredEvent>;
};

/** For each entry that is not in the file yet: the version that the file has. */
export type Unsaved = Map<string, number>;

/**
 * Adopts what another process has stored since. If one entry follows the other, the later one counts, whatever the
 * clocks say. If they were stored independently, it is unknown which was written to the record last: the entry is then
 * in doubt, unless both are the same. Returns true if the file lacks something of ours.
 */
export function mergeState(ours: StateContent, theirs: StateContent, unsaved: Unsaved): boolean {
  for (const [key, entry] of Object.entries(theirs.entries))
    mergeEntry(key, entry, ours, theirs.versions[key] ?? 0, unsaved);
  for (const [target, until] of Object.entries(theirs.holds)) {
    ours.holds[target] = Math.max(until, ours.holds[target] ?? 0);
  }
  return Object.entries(ours.entries).some(
    ([key, own]) => !isSame(own, theirs.entries[key]) || ours.versions[key] !== theirs.versions[key],
  );
}

function mergeEntry(key: string, entry: StoredAddress, ours: StateContent, version: number, unsaved: Unsaved) {
  const own = ours.entries[key];
  const ownVersion = ours.versions[key] ?? 0;
  const savedVersion = unsaved.get(key);
  if (!own) ours.entries[key] = entry;
  else if (savedVersion !== undefined ? version > savedVersion : version === ownVersion)
    ours.entries[key] = unordered(own, entry);
  else if (version > ownVersion) ours.entries[key] = entry;
  if (savedVersion === undefined) ours.versions[key] = Math.max(version, ownVersion);
  else if (version > savedVersion) {
    ours.versions[key] = version + 1;
    unsaved.set(key, version);
  }
}

/** Symmetric, so that both processes get the same result. */
function unordered(own: StoredAddress, other: StoredAddress): StoredAddress {
  const rank = ({ storedAt, address, ttl = 0 }: StoredAddress) => `${storedAt} ${address} ${ttl}`;
  const later = rank(own) < rank(other) ? other : own;
  const agree = own.address === other.address && own.ttl === other.ttl && !own.inDoubt && !other.inDoubt;
  return agree ? later : { ...later, inDoubt: true };
}

const isSame = (one: StoredAddress, other: StoredAddress | undefined): boolean =>
  one.address === other?.address &&
  one.storedAt === other.storedAt &&
  one.ttl === other.ttl &&
  one.ttlKept === other.ttlKept &&
  (one.inDoubt ?? false) === (other.inDoubt ?? false);
