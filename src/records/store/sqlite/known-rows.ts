import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { PlacedRecord, Zone, ZoneKey } from "../../model.ts";
import { atZoneSerial } from "../rows.ts";
import type { Reads } from "./read.ts";

type KnownRecord = Omit<PlacedRecord, "zone"> & { readonly zone: string };

/** Per kind; one entry takes about a kilobyte. At the limit all entries are dropped: the busy ones are soon back. */
const mostKept = 10_000;

/**
 * A cache of rows that were recently read or written. It is valid until another connection commits. A write must
 * report what it wrote, and clear the cache if it is rolled back.
 */
export function createKnownRows(
  read: Reads & { readonly signedName: (zone: Zone, owner: string) => SignedName | undefined },
) {
  const zones = new Map<string, Zone>();
  /** Ids of zones by number and by name. */
  const zoneIds = new Map<number | string, string>();
  const records = new Map<string, KnownRecord>();
  const owners = new Map<string, readonly RRset[]>();
  const names = new Map<string, SignedName>();

  const keepZone = (zone: Zone): void => {
    if (zones.size >= mostKept) {
      zones.clear();
      zoneIds.clear();
    }
    zones.set(zone.id, zone);
    zoneIds.set(zone.number, zone.id).set(zone.name, zone.id);
  };
  const zone = (id: string): Zone | undefined => {
    const known = zones.get(id);
    if (known !== undefined) return known;
    const found = read.zone(id);
    if (found !== undefined) keepZone(found);
    return found;
  };
  // The SOA changes with every write to its zone.
  const keepRecord = ({ zone: { id }, owner, type, ttl, record }: PlacedRecord): void => {
    if (type !== "SOA") keep(records, record.id, { zone: id, owner, type, ttl, record });
  };

  return {
    zone,
    zoneBy: (key: ZoneKey): Zone | undefined => {
      const id = zoneIds.get("name" in key ? key.name : key.number);
      if (id !== undefined) return zone(id);
      const found = read.zoneBy(key);
      if (found !== undefined) keepZone(found);
      return found;
    },
    record: (id: string): PlacedRecord | undefined => {
      const known = records.get(id);
      const home = known && zone(known.zone);
      if (known !== undefined && home !== undefined) return { ...known, zone: home };
      const found = read.record(id);
      if (found === undefined) return undefined;
      keepZone(found.zone);
      keepRecord(found);
      return found;
    },
    /** The set that contains a record. */
    place: (id: string): { readonly zone: string; readonly owner: string } | undefined =>
      records.get(id) ?? read.place(id),
    setsAt: (at: Zone, owner: string): readonly RRset[] => {
      const key = ownerKey(at, owner);
      const known = owners.get(key);
      if (known !== undefined) return known.map((set) => atZoneSerial(set, at));
      const found = read.sets(at, { owner });
      keep(owners, key, found);
      return found;
    },
    /** Every write to a signed zone needs its apex. */
    signedName: (at: Zone, owner: string): SignedName | undefined => {
      const key = nameKey(at, owner);
      const found = names.get(key) ?? read.signedName(at, owner);
      if (found !== undefined) keep(names, key, found);
      return found;
    },

    wroteZone: keepZone,
    /** All sets of an owner; an empty list if it has none. */
    wroteSets: (at: Zone, owner: string, sets: readonly RRset[]): void => {
      keep(owners, ownerKey(at, owner), sets);
      for (const { type, ttl, records: inSet } of sets)
        for (const record of inSet) keepRecord({ zone: at, owner, type, ttl, record });
    },
    wroteNames: (at: Zone, changes: readonly NameChange[]): void => {
      for (const { before, after } of changes) {
        if (after !== undefined) keep(names, nameKey(at, after.owner), after);
        else if (before !== undefined) names.delete(nameKey(at, before.owner));
      }
    },
    /** Call before adding the new sets: a record may move from one set to another. */
    removedRecord: (id: string): void => {
      records.delete(id);
    },
    forget: (): void => {
      zones.clear();
      zoneIds.clear();
      records.clear();
      owners.clear();
      names.clear();
    },
  };
}

export type KnownRows = ReturnType<typeof createKnownRows>;

const ownerKey = (zone: Zone, owner: string): string => `${zone.number} ${owner}`;

const nameKey = ({ namesAt }: Zone, owner: string): string => `${namesAt} ${owner}`;

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  if (kept.size >= mostKept) kept.clear();
  kept.set(key, value);
}
