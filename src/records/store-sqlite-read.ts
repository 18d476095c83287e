import type { DatabaseSync } from "node:sqlite";
import { enclosing } from "../core/name.ts";
import type { RRset } from "../core/rrset.ts";
import type { HistoryQuery, Page, SetPageQuery, SetQuery, Zone, ZoneKey, ZoneQuery } from "./store.ts";
import { distinctFields } from "./store-order.ts";
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
} from "./store-rows.ts";
import { allOf, anyOf, createStatements, sortedBy } from "./store-sqlite-statements.ts";

/** Every read of the store, on statements prepared once. */
export function prepareReads(database: DatabaseSync) {
  const selectZone = database.prepare("SELECT * FROM zones WHERE id = ?");
  const selectNumbered = database.prepare("SELECT * FROM zones WHERE number = ?");
  const selectHolding = database.prepare(
    "SELECT * FROM zones WHERE name IN (SELECT value FROM json_each(?)) ORDER BY length(name) DESC LIMIT 1",
  );
  const selectNamed = database.prepare("SELECT * FROM zones WHERE name = ?");
  const countAllZones = database.prepare("SELECT coalesce(sum(zones), 0) AS total FROM zone_counts WHERE account = ?");
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
  const selectLastChange = database.prepare("SELECT coalesce(max(position), 0) AS position FROM changes");
  const selectChanges = database.prepare("SELECT * FROM changes WHERE position > ? ORDER BY position LIMIT ?");
  const prepared = createStatements(database);

  const zoneBy = (key: ZoneKey): Zone | undefined => {
    const row = "name" in key ? selectNamed.get(key.name) : selectNumbered.get(key.number);
    return row && zoneFromRow(row as ZoneRow);
  };

  return {
    zone: (id: string): Zone | undefined => {
      const row = selectZone.get(id) as ZoneRow | undefined;
      return row && zoneFromRow(row);
    },

    zoneBy,

    zoneHolding: (name: string): Zone | undefined => {
      const row = selectHolding.get(JSON.stringify(enclosing(name))) as ZoneRow | undefined;
      return row && zoneFromRow(row);
    },

    zones: (account: number, query: ZoneQuery): Page<Zone> => {
      const { name, search, within, order = [], page, perPage } = query;
      if (name !== undefined) {
        const zone = zoneBy({ name });
        const items = zone?.account === account && (within === undefined || within.includes(name)) ? [zone] : [];
        return { items, total: items.length };
      }
      const asked = allOf(
        // A few names are looked for one by one, and not among all zones of the account: "+" keeps its index out.
        [within === undefined ? "account = ?" : "+account = ?", account],
        search === undefined ? undefined : ["instr(name, ?) > 0", search],
        anyOf("name", within),
      );
      const from = `FROM zones WHERE ${asked.text}`;
      const all = search === undefined && within === undefined;
      const counted = all ? countAllZones : prepared(`SELECT count(*) AS total ${from}`);
      const select = prepared(`SELECT * ${from} ORDER BY ${sortedBy(order, zoneColumns)}number LIMIT ? OFFSET ?`);
      const rows = select.all(...asked.values, perPage, (page - 1) * perPage) as ZoneRow[];
      const { total } = counted.get(...asked.values) as { total: number };
      return { items: rows.map(zoneFromRow), total };
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

    setPage: (zone: Zone, { owners, types, order = [], page, perPage }: SetPageQuery): Page<RRset> => {
      const asked = allOf(["zone = ?", zone.number], anyOf("owner", owners), anyOf("type", types));
      const from = `FROM rrsets WHERE ${asked.text}`;
      const { total } = prepared(`SELECT count(*) AS total ${from}`).get(...asked.values) as { total: number };
      const sorted = distinctFields(order).flatMap(({ by, descending }) =>
        setColumns[by].map((each) => turned(each, descending)),
      );
      const by = [...sorted, ...(order.length === 0 ? ["type"] : []), ...setColumns.name, "type"].join(", ");
      const select = prepared(`SELECT owner, type, ttl, records, marks ${from} ORDER BY ${by} LIMIT ? OFFSET ?`);
      const rows = select.all(...asked.values, perPage, (page - 1) * perPage) as SetRow[];
      return { items: rows.map((row) => setFromRow(row, zone)), total };
    },

    lastChange: (): number => (selectLastChange.get() as { position: number }).position,

    changesAfter: (position: number, limit: number) =>
      (selectChanges.all(position, limit) as ChangeRow[]).map(changeFromRow),

    historyOf: (zone: Zone, { before, serial, limit }: HistoryQuery) => {
      const asked = allOf(
        ["zone = ?", zone.number],
        before === undefined ? undefined : ["position < ?", before],
        serial === undefined ? undefined : ["serial = ?", serial],
      );
      const select = prepared(`SELECT * FROM changes WHERE ${asked.text} ORDER BY position DESC LIMIT ?`);
      return (select.all(...asked.values, limit) as ChangeRow[]).map(changeFromRow);
    },
  };
}

export type Reads = ReturnType<typeof prepareReads>;

const zoneColumns = { id: "number", name: "name", created: "created" } as const;
const setColumns = {
  id: ["owner || '/' || type ASC"],
  name: ["owner = '@' DESC", "owner ASC"],
} as const;

/** An order of one column, the other way round when asked. */
const turned = (order: string, descending: boolean): string =>
  descending ? order.replace(/ASC$|DESC$/, (end) => (end === "ASC" ? "DESC" : "ASC")) : order;
