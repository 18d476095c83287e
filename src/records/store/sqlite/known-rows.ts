import type { RRset } from "../../../core/records/rrset.ts";
import type { PlacedRecord, Zone, ZoneKey } from "../../model.ts";
import { atZoneSerial } from "../rows.ts";
import type { Reads } from "./read.ts";

type KnownRecord = Omit<PlacedRecord, "zone"> & { readonly zone: string };

/** Of each kind; memory for about that many kilobytes. When there are more, all are forgotten: the busy ones are soon back. */
const mostKept = 10_000;

/**
 * What was read from the database or written to it lately, so that it need not be read again. It holds as long as nobody
 * else commits; a write must say what it wrote, and that all is to be forgotten when it is rolled back.
 */
export function createKnownRows(read: Reads) {
  const zones = new Map<string, Zone>();
  /** Ids of the zones by number and by name. */
  const zoneIds = new Map<number | string, string>();
  const records = new Map<string, KnownRecord>();
  const owners = new Map<string, readonly RRset[]>();

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
  // The SOA is another with every write to its zone.
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
    /** Where a record stands. */
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

    wroteZone: keepZone,
    /** All sets that an owner has now, or none. */
    wroteSets: (at: Zone, owner: string, sets: readonly RRset[]): void => {
      keep(owners, ownerKey(at, owner), sets);
      for (const { type, ttl, records: inSet } of sets)
        for (const record of inSet) keepRecord({ zone: at, owner, type, ttl, record });
    },
    /** Before what is there instead is told: a record may move from one set to another. */
    removedRecord: (id: string): void => {
      records.delete(id);
    },
    forget: (): void => {
      zones.clear();
      zoneIds.clear();
      records.clear();
      owners.clear();
    },
  };
}

export type KnownRows = ReturnType<typeof createKnownRows>;

const ownerKey = (zone: Zone, owner: string): string => `${zone.number} ${owner}`;

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  if (kept.size >= mostKept) kept.clear();
  kept.set(key, value);
}
