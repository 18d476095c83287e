import type { DatabaseSync } from "node:sqlite";
import { apex } from "../../../core/names/name.ts";
import { dname } from "../../../core/records/dname.ts";
import type { RRset, SetKey } from "../../../core/records/rrset.ts";
import type { RecordInZone, Zone, ZoneKey } from "../../model.ts";
import type { SetQuery } from "../port.ts";
import {
  type ChangeRow,
  ownersIn,
  type RowOfRecord,
  recordColumns,
  recordFromRow,
  type SetRow,
  setFromRow,
  type ZoneRow,
  zoneFromRow,
} from "../rows.ts";

const prepare = (database: DatabaseSync) => ({
  zone: database.prepare("SELECT * FROM zones WHERE id = ?"),
  numberedZone: database.prepare("SELECT * FROM zones WHERE number = ?"),
  namedZone: database.prepare("SELECT * FROM zones WHERE name = ?"),
  record: database.prepare(
    `SELECT ${recordColumns} FROM record_ids JOIN rrsets USING (zone, owner, type) ` +
      "JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  ),
  place: database.prepare(
    "SELECT zones.id AS zone, owner FROM record_ids JOIN zones ON zones.number = record_ids.zone WHERE record_ids.id = ?",
  ),
  sets: database.prepare("SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ?"),
  types: database.prepare("SELECT owner, type FROM rrsets WHERE zone = ?"),
  setsOfOwner: database.prepare("SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ? AND owner = ?"),
  dname: database.prepare(`SELECT 1 FROM rrsets WHERE zone = ? AND owner = ? AND type = '${dname}'`),
  ending: database.prepare("SELECT owner FROM rrsets WHERE zone = ? AND substr(owner, ?) = ?"),
  others: database.prepare(`SELECT owner FROM rrsets WHERE zone = ? AND owner <> '${apex}'`),
  toRemove: database.prepare(
    "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ? AND (owner = '@' OR instr(marks, '\"locked\":true') > 0)",
  ),
  changedSince: database.prepare("SELECT change FROM changes WHERE zone = ? AND position > ? LIMIT ?"),
  zoneCount: database.prepare("SELECT count(*) AS count FROM zones WHERE account = ?"),
  lastChange: database.prepare("SELECT coalesce(max(position), 0) AS position FROM changes"),
});

/** The most frequent reads, on statements that are prepared once. Synchronous, because transactions use them. */
export class Reads {
  readonly #select: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync) {
    this.#select = prepare(database);
  }

  zone(id: string): Zone | undefined {
    const row = this.#select.zone.get(id) as ZoneRow | undefined;
    return row && zoneFromRow(row);
  }

  zoneBy(key: ZoneKey): Zone | undefined {
    const row = "name" in key ? this.#select.namedZone.get(key.name) : this.#select.numberedZone.get(key.number);
    return row && zoneFromRow(row as ZoneRow);
  }

  record(id: string): RecordInZone | undefined {
    const row = this.#select.record.get(id) as RowOfRecord | undefined;
    return row && recordFromRow(row, id);
  }

  /** The set that contains a record. */
  place(record: string) {
    return this.#select.place.get(record) as { zone: string; owner: string } | undefined;
  }

  sets(zone: Zone, { owner, type }: SetQuery): readonly RRset[] {
    const { sets: all, setsOfOwner } = this.#select;
    const rows = owner === undefined ? all.all(zone.number) : setsOfOwner.all(zone.number, owner);
    const sets = (rows as SetRow[]).map((row) => setFromRow(row, zone));
    return type === undefined ? sets : sets.filter((set) => set.type === type);
  }

  /** All sets of a zone, read one by one. */
  *eachSet(zone: Zone): Generator<RRset, void> {
    for (const row of this.#select.sets.iterate(zone.number)) yield setFromRow(row as SetRow, zone);
  }

  /** What is looked at before a large zone is removed: the apex, and protected sets. */
  setsToRemove(zone: Zone): readonly RRset[] {
    return (this.#select.toRemove.all(zone.number) as SetRow[]).map((row) => setFromRow(row, zone));
  }

  /** The owners that have changed since a position; of at most `limit` changes. */
  changedSince({ number }: Zone, position: number, limit: number): ReadonlySet<string> {
    const rows = this.#select.changedSince.all(number, position, limit) as Pick<ChangeRow, "change">[];
    return ownersIn(rows.map(({ change }) => change));
  }

  /** The owner and type of every set, read one by one. */
  eachType(zone: Zone): Iterable<SetKey> {
    return this.#select.types.iterate(zone.number) as Iterable<SetKey>;
  }

  /** As in `StoredNames`. */
  hasDname(zone: Zone, owner: string): boolean {
    return this.#select.dname.get(zone.number, owner) !== undefined;
  }

  /** As in `StoredNames`. */
  *endingWith(zone: Zone, owner: string): Generator<string, void> {
    const { others, ending } = this.#select;
    const rows =
      owner === apex
        ? others.iterate(zone.number)
        : // The length in code points; an owner is ASCII.
          ending.iterate(zone.number, -owner.length - 1, `.${owner}`);
    for (const row of rows) yield (row as { readonly owner: string }).owner;
  }

  readonly zoneCount = (account: number): number => (this.#select.zoneCount.get(account) as { count: number }).count;

  readonly lastChange = (): number => (this.#select.lastChange.get() as { position: number }).position;
}
