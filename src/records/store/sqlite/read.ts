import type { DatabaseSync } from "node:sqlite";
import { apex } from "../../../core/names/name.ts";
import { dname, type Surroundings } from "../../../core/records/dname.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Zone, ZoneKey } from "../../model.ts";
import type { SetQuery } from "../port.ts";
import {
  type ChangeRow,
  ownersIn,
  type PlacedRow,
  placedColumns,
  placedFromRow,
  type SetRow,
  setFromRow,
  type ZoneRow,
  zoneFromRow,
} from "../rows.ts";

/** The most frequent reads, on statements that are prepared once. Synchronous, because transactions use them. */
export function prepareReads(database: DatabaseSync) {
  const selectZone = database.prepare("SELECT * FROM zones WHERE id = ?");
  const selectNumbered = database.prepare("SELECT * FROM zones WHERE number = ?");
  const selectNamed = database.prepare("SELECT * FROM zones WHERE name = ?");
  const selectRecord = database.prepare(
    `SELECT ${placedColumns} FROM record_ids JOIN rrsets USING (zone, owner, type) ` +
      "JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  );
  const selectPlace = database.prepare(
    "SELECT zones.id AS zone, owner FROM record_ids JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  );
  const selectSets = database.prepare("SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ?");
  const selectTypes = database.prepare("SELECT owner, type FROM rrsets WHERE zone = ?");
  const selectOwnerSets = database.prepare(
    "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ? AND owner = ?",
  );
  const selectDname = database.prepare(`SELECT 1 FROM rrsets WHERE zone = ? AND owner = ? AND type = '${dname}'`);
  const selectEnding = database.prepare("SELECT owner FROM rrsets WHERE zone = ? AND substr(owner, ?) = ?");
  const selectOthers = database.prepare(`SELECT owner FROM rrsets WHERE zone = ? AND owner <> '${apex}'`);
  const selectRemoval = database.prepare(
    "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ? AND (owner = '@' OR instr(marks, '\"locked\":true') > 0)",
  );
  const selectMissed = database.prepare("SELECT change FROM changes WHERE zone = ? AND position > ? LIMIT ?");
  const selectLastChange = database.prepare("SELECT coalesce(max(position), 0) AS position FROM changes");

  return {
    zone: (id: string): Zone | undefined => {
      const row = selectZone.get(id) as ZoneRow | undefined;
      return row && zoneFromRow(row);
    },

    zoneBy: (key: ZoneKey): Zone | undefined => {
      const row = "name" in key ? selectNamed.get(key.name) : selectNumbered.get(key.number);
      return row && zoneFromRow(row as ZoneRow);
    },

    record: (id: string) => {
      const row = selectRecord.get(id) as PlacedRow | undefined;
      return row && placedFromRow(row, id);
    },

    /** The set that contains a record. */
    place: (record: string) => selectPlace.get(record) as { zone: string; owner: string } | undefined,

    sets: (zone: Zone, { owner, type }: SetQuery): readonly RRset[] => {
      const rows = owner === undefined ? selectSets.all(zone.number) : selectOwnerSets.all(zone.number, owner);
      const sets = (rows as SetRow[]).map((row) => setFromRow(row, zone));
      return type === undefined ? sets : sets.filter((set) => set.type === type);
    },

    /** All sets of a zone, read one by one. */
    *eachSet(zone: Zone): Generator<RRset, void> {
      for (const row of selectSets.iterate(zone.number)) yield setFromRow(row as SetRow, zone);
    },

    /** What is looked at before a large zone is removed: the apex, and protected sets. */
    setsToRemove: (zone: Zone): readonly RRset[] =>
      (selectRemoval.all(zone.number) as SetRow[]).map((row) => setFromRow(row, zone)),

    /** The owners that have changed since a position; of at most `limit` changes. */
    missed: ({ number }: Zone, position: number, limit: number): ReadonlySet<string> =>
      ownersIn((selectMissed.all(number, position, limit) as Pick<ChangeRow, "change">[]).map(({ change }) => change)),

    /** The owner and type of every set, read one by one. */
    eachType: (zone: Zone) => selectTypes.iterate(zone.number) as Iterable<Pick<RRset, "owner" | "type">>,

    around: (zone: Zone): Surroundings => ({
      redirects: (owner) => selectDname.get(zone.number, owner) !== undefined,
      *endingWith(owner) {
        const rows =
          owner === apex
            ? selectOthers.iterate(zone.number)
            : // The length in code points; an owner is ASCII.
              selectEnding.iterate(zone.number, -owner.length - 1, `.${owner}`);
        for (const row of rows) yield (row as { readonly owner: string }).owner;
      },
    }),

    lastChange: (): number => (selectLastChange.get() as { position: number }).position,
  };
}

export type Reads = ReturnType<typeof prepareReads>;
