import type { DatabaseSync } from "node:sqlite";
import type { RRset } from "../core/rrset.ts";
import { openSqlite } from "../process/open-sqlite.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createOpenZones } from "./open-zones.ts";
import { migrations } from "./schema-sqlite.ts";
import type { Page, RecordStore, SetQuery, WriteRequest, Zone, ZoneQuery } from "./store.ts";
import {
  type ChangeRow,
  changeFromRow,
  type PlacedRow,
  placedColumns,
  placedFromRow,
  type SetRow,
  setFromRow,
  type ZoneRow,
  zoneFromRow,
} from "./store-sqlite-rows.ts";
import { prepareTokens } from "./store-sqlite-tokens.ts";
import { prepareSetWriter } from "./store-sqlite-write.ts";

/** `path` may be `:memory:`: the same store for tests, gone when closed. */
export function openSqliteStore(path: string): RecordStore {
  const database = openSqlite(path, migrations);
  const read = prepareReads(database);
  const zones = createOpenZones(database, read.zone);
  const commit = createGroupCommit(database, zones);
  const writer = prepareSetWriter(database);
  const insertZone = database.prepare(
    "INSERT INTO zones (id, account, name, ttl, serial, record_count, created, modified) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
  );
  const removeZone = database.prepare("DELETE FROM zones WHERE number = ?");

  return {
    ...prepareTokens(database, commit),
    zone: async (account, id) => read.zone(account, id),
    zones: async (account, query) => read.zones(account, query),
    record: async (account, id) => read.record(account, id),
    sets: async (zone, query) => read.sets(zone, query),
    changesAfter: async (position, limit) => read.changesAfter(position, limit),

    createZone: (zone, actor) =>
      commit(() => {
        const { id, account, name, ttl, serial, created: at, sets } = zone;
        const count = sets.reduce((sum, set) => sum + set.records.length, 0);
        if (insertZone.run(id, account, name, ttl, serial, count, at, at).changes === 0) return "name-taken";
        const made = read.zone(account, id);
        if (made === undefined) throw new Error("the zone just written cannot be read");
        writer.createSets(made, sets, { actor, now: at });
        return made;
      }),

    deleteZone: (account, id, actor, now) =>
      commit(() => {
        const zone = zones.get(account, id);
        if (zone === undefined) return false;
        writer.replaceSets(zone, read.sets(zone, {}), [], { actor, now });
        zones.remove(id);
        removeZone.run(zone.number);
        return true;
      }),

    write: (request, decide) =>
      commit(() => {
        const place =
          "record" in request.at ? read.place(request.at.record) : { zone: request.at.zone, owner: undefined };
        const zone = place && zones.get(request.account, place.zone);
        if (zone === undefined) return undefined;
        const sets = setsOf(request, zone, place?.owner, read.sets);
        const { wanted, result } = decide({ zone, sets });
        const after = wanted ? writer.replaceSets(zone, sets, wanted, request) : zone;
        if (after !== zone) zones.put(after);
        return result;
      }),

    close: () => {
      commit.flush();
      database.close();
    },
  };
}

function setsOf(
  { owners }: WriteRequest,
  zone: Zone,
  owner: string | undefined,
  read: (zone: Zone, query: SetQuery) => readonly RRset[],
): readonly RRset[] {
  if (owners === "all") return read(zone, {});
  const asked = new Set(owners(zone));
  if (owner !== undefined) asked.add(owner);
  return [...asked].flatMap((each) => read(zone, { owner: each }));
}

function prepareReads(database: DatabaseSync) {
  const selectZone = database.prepare("SELECT * FROM zones WHERE id = ? AND account = ?");
  const zoneFilter =
    "account = ?1 AND (?2 IS NULL OR instr(name, ?2) > 0) " +
    "AND (?3 IS NULL OR name IN (SELECT value FROM json_each(?3)))";
  const selectNamed = database.prepare("SELECT * FROM zones WHERE name = ? AND account = ?");
  const countZones = database.prepare(`SELECT count(*) AS total FROM zones WHERE ${zoneFilter}`);
  const selectZones = database.prepare(`SELECT * FROM zones WHERE ${zoneFilter} ORDER BY number LIMIT ?4 OFFSET ?5`);
  const selectRecord = database.prepare(
    `SELECT ${placedColumns} FROM record_ids JOIN rrsets USING (zone, owner, type) ` +
      "JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ? AND zones.account = ?",
  );
  selectRecord.setReturnArrays(true);
  const selectPlace = database.prepare(
    "SELECT zones.id AS zone, owner FROM record_ids JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  );
  const selectSets = database.prepare("SELECT owner, type, ttl, records FROM rrsets WHERE zone = ?");
  const selectOwnerSets = database.prepare("SELECT owner, type, ttl, records FROM rrsets WHERE zone = ? AND owner = ?");
  const selectChanges = database.prepare("SELECT * FROM changes WHERE position > ? ORDER BY position LIMIT ?");

  return {
    zone: (account: number, id: string): Zone | undefined => {
      const row = selectZone.get(id, account) as ZoneRow | undefined;
      return row && zoneFromRow(row);
    },

    zones: (account: number, query: ZoneQuery): Page<Zone> => {
      const { name, search = null, within, page, perPage } = query;
      if (name !== undefined) {
        const row = selectNamed.get(name, account) as ZoneRow | undefined;
        const items = row && (within === undefined || within.includes(name)) ? [zoneFromRow(row)] : [];
        return { items, total: items.length };
      }
      const filter = [account, search, within === undefined ? null : JSON.stringify(within)];
      const { total } = countZones.get(...filter) as { total: number };
      const rows = selectZones.all(...filter, perPage, (page - 1) * perPage) as ZoneRow[];
      return { items: rows.map(zoneFromRow), total };
    },

    record: (account: number, id: string) => {
      const row = selectRecord.get(id, account) as PlacedRow | undefined;
      return row && placedFromRow(row, id);
    },

    /** Where a record stands. */
    place: (record: string) => selectPlace.get(record) as { zone: string; owner: string } | undefined,

    sets: (zone: Zone, { owner, type }: SetQuery): readonly RRset[] => {
      const rows = owner === undefined ? selectSets.all(zone.number) : selectOwnerSets.all(zone.number, owner);
      const sets = (rows as SetRow[]).map((row) => setFromRow(row, zone));
      return type === undefined ? sets : sets.filter((set) => set.type === type);
    },

    changesAfter: (position: number, limit: number) =>
      (selectChanges.all(position, limit) as ChangeRow[]).map(changeFromRow),
  };
}
