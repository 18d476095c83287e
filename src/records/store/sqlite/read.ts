import type { DatabaseSync } from "node:sqlite";
import { enclosing } from "../../../core/names/name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Zone, ZoneKey } from "../../model.ts";
import type { SetQuery } from "../port.ts";
import {
  type ChangeRow,
  changeFromRow,
  goodKey,
  type KeyRow,
  keyFromRow,
  type PlacedRow,
  placedColumns,
  placedFromRow,
  type SetRow,
  setFromRow,
  type ZoneRow,
  zoneFromRow,
} from "../rows.ts";
import type { TransferKey, ZoneNumber } from "../transfer-keys.ts";

/** The reads that requests, writes and DNS questions make, on statements prepared once. */
export function prepareReads(database: DatabaseSync) {
  const selectZone = database.prepare("SELECT * FROM zones WHERE id = ?");
  const selectNumbered = database.prepare("SELECT * FROM zones WHERE number = ?");
  const selectHolding = database.prepare(
    "SELECT * FROM zones WHERE name IN (SELECT value FROM json_each(?)) ORDER BY length(name) DESC LIMIT 1",
  );
  const selectNamed = database.prepare("SELECT * FROM zones WHERE name = ?");
  const selectEvery = database.prepare("SELECT number, name FROM zones WHERE number > ? ORDER BY number LIMIT ?");
  const selectSecondaries = database.prepare("SELECT * FROM zones WHERE settings ->> 'mode' = 'secondary'");
  const selectKey = database.prepare(`SELECT ${goodKey} = ?`);
  const selectRecord = database.prepare(
    `SELECT ${placedColumns} FROM record_ids JOIN rrsets USING (zone, owner, type) ` +
      "JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  );
  selectRecord.setReturnArrays(true);
  const selectPlace = database.prepare(
    "SELECT zones.id AS zone, owner FROM record_ids JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  );
  const selectSets = database.prepare("SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ?");
  const selectOwnerSets = database.prepare(
    "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ? AND owner = ?",
  );
  const selectSetsAfter = database.prepare(
    "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ? AND (owner, type) > (?, ?) " +
      "ORDER BY owner, type LIMIT ?",
  );
  const selectLastChange = database.prepare("SELECT coalesce(max(position), 0) AS position FROM changes");
  const selectChanges = database.prepare("SELECT * FROM changes WHERE position > ? ORDER BY position LIMIT ?");
  const selectTheirChanges = database.prepare(
    "SELECT * FROM changes WHERE account = ? AND position > ? ORDER BY position LIMIT ?",
  );

  return {
    zone: (id: string): Zone | undefined => {
      const row = selectZone.get(id) as ZoneRow | undefined;
      return row && zoneFromRow(row);
    },

    zoneBy: (key: ZoneKey): Zone | undefined => {
      const row = "name" in key ? selectNamed.get(key.name) : selectNumbered.get(key.number);
      return row && zoneFromRow(row as ZoneRow);
    },

    zoneHolding: (name: string): Zone | undefined => {
      const row = selectHolding.get(JSON.stringify(enclosing(name))) as ZoneRow | undefined;
      return row && zoneFromRow(row);
    },

    everyZone: (after: number, limit: number): readonly ZoneNumber[] =>
      (selectEvery.all(after, limit) as ZoneNumber[]).map(({ number, name }) => ({ number, name })),

    secondaryZones: (): readonly Zone[] => (selectSecondaries.all() as ZoneRow[]).map(zoneFromRow),

    transferKey: (name: string): TransferKey | undefined => {
      const row = selectKey.get(name) as KeyRow | undefined;
      return row && keyFromRow(row);
    },

    record: (id: string) => {
      const row = selectRecord.get(id) as PlacedRow | undefined;
      return row && placedFromRow(row, id);
    },

    /** Where a record stands. */
    place: (record: string) => selectPlace.get(record) as { zone: string; owner: string } | undefined,

    sets: (zone: Zone, { owner, type }: SetQuery): readonly RRset[] => {
      const rows = owner === undefined ? selectSets.all(zone.number) : selectOwnerSets.all(zone.number, owner);
      const sets = (rows as SetRow[]).map((row) => setFromRow(row, zone));
      return type === undefined ? sets : sets.filter((set) => set.type === type);
    },

    setsAfter: (zone: Zone, after: Pick<RRset, "owner" | "type"> | undefined, limit: number): readonly RRset[] => {
      const rows = selectSetsAfter.all(zone.number, after?.owner ?? "", after?.type ?? "", limit) as SetRow[];
      return rows.map((row) => setFromRow(row, zone));
    },

    lastChange: (): number => (selectLastChange.get() as { position: number }).position,

    changesAfter: (position: number, limit: number, account?: number) => {
      const rows =
        account === undefined ? selectChanges.all(position, limit) : selectTheirChanges.all(account, position, limit);
      return (rows as ChangeRow[]).map(changeFromRow);
    },
  };
}

export type Reads = ReturnType<typeof prepareReads>;
