import type { DatabaseSync } from "node:sqlite";
import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { Change } from "../../../core/records/changes.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { finish, type Steps } from "../../../core/steps.ts";
import type { LoggedRow, Zone } from "../../model.ts";
import { allReadBack, marksToText } from "../rows.ts";
import type { NamesSwitch } from "../signed/plan-step.ts";
import { firstEffect, idsOnlyIn, type WriteEffect, type WrittenBy } from "../write-effect.ts";
import { type ManyRows, prepareManyRows } from "./many-rows.ts";
import type { RowCache } from "./row-cache.ts";
import type { SignedNames } from "./signed/names.ts";

const prepare = (database: DatabaseSync) => ({
  updateZone: database.prepare("UPDATE zones SET serial = ?, modified = ?, record_count = ? WHERE number = ?"),
  updateSettings: database.prepare("UPDATE zones SET settings = ? WHERE number = ?"),
  upsertSet: database.prepare(
    "INSERT INTO rrsets (zone, owner, type, ttl, records, marks) VALUES (?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT DO UPDATE SET ttl = excluded.ttl, records = excluded.records, marks = excluded.marks",
  ),
  deleteSet: database.prepare("DELETE FROM rrsets WHERE zone = ? AND owner = ? AND type = ?"),
  insertId: database.prepare("INSERT INTO record_ids (id, zone, owner, type) VALUES (?, ?, ?, ?)"),
  deleteId: database.prepare("DELETE FROM record_ids WHERE id = ?"),
  insertChange: database.prepare(
    "INSERT INTO changes (account, zone, zone_name, serial, at, actor, change) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ),
});

/** Turns the effect of a write into rows. Call it inside a transaction; the cache of rows is updated immediately. */
export class SetWriter {
  readonly #database: DatabaseSync;
  readonly #rowCache: RowCache;
  readonly #signed: () => SignedNames;
  readonly #sql: ReturnType<typeof prepare>;
  #manyRows: ReturnType<typeof prepareManyRows> | undefined;
  /** Of this transaction. */
  #logged: LoggedRow[] = [];
  readonly #changed = new Map<number, Zone>();

  constructor(database: DatabaseSync, rowCache: RowCache, signed: () => SignedNames) {
    this.#database = database;
    this.#rowCache = rowCache;
    this.#signed = signed;
    this.#sql = prepare(database);
  }

  /** Call it when the transaction has begun. */
  readonly begin = (): void => {
    this.#logged = [];
    this.#changed.clear();
  };

  /** `existing` are the sets that the write could see. */
  readonly apply = (effect: WriteEffect, existing: readonly RRset[]): void => {
    this.#writeZone(effect);
    this.#writeRows(effect);
    this.updateCache(effect.zone, effect.changes, existing);
  };

  /** What the signer has made of earlier writes; nothing else of the zone changes. */
  readonly applySigned = (
    before: Zone,
    names: readonly NameChange[],
    namesSwitch: NamesSwitch | undefined,
    row: Omit<LoggedRow, "position">,
  ): void => {
    const zone = namesSwitch ? this.#signed().move(before, namesSwitch) : before;
    finish(this.#signed().writing(zone.signedNamesNumber ?? 0, names));
    if (zone !== before) this.#keepZone(zone);
    if (zone.settings.dnssec === undefined) this.#signed().writeKeys(zone, []);
    this.#rowCache.wroteNames(zone, names);
    this.#log(row);
  };

  /** The first sets of a zone, under its initial serial. */
  readonly createSets = (zone: Zone, created: readonly Change[], by: WrittenBy): void =>
    this.#writeRows(firstEffect(zone, created, by));

  readonly creatingSets = (zone: Zone, created: readonly Change[], by: WrittenBy, rows: ManyRows): Steps<void> =>
    this.#writingMany(firstEffect(zone, created, by), rows);

  /** The zone's row was deleted. */
  readonly removed = (zone: Zone): void => {
    this.#changed.delete(zone.number);
    this.#forgetRows();
  };

  /** Call it before the commit: each zone that changed is written once per transaction. */
  readonly writeZones = (): void => {
    for (const { serial, modified, recordCount, number } of this.#changed.values())
      this.#sql.updateZone.run(serial, modified, recordCount, number);
  };

  /** The rows that this transaction added to the log. */
  readonly logged = (): readonly LoggedRow[] => this.#logged;

  /** Like `apply`, for a large write with prepared rows. */
  *applying(effect: WriteEffect, rows: ManyRows): Steps<void> {
    this.#writeZone(effect);
    yield* this.#writingMany(effect, rows);
    this.#forgetRows();
  }

  #writeZone({ zone, newSettings, keys = [] }: WriteEffect): void {
    if (newSettings) this.#sql.updateSettings.run(JSON.stringify(zone.settings), zone.number);
    // If the zone is no longer signed, they are deleted with its signatures.
    if (newSettings && zone.settings.dnssec) this.#signed().writeKeys(zone, keys);
    this.#keepZone(zone);
  }

  #keepZone(zone: Zone): void {
    this.#changed.set(zone.number, zone);
    this.#rowCache.keepZone(zone);
  }

  #writeRows({ zone, changes, log }: WriteEffect): void {
    const { insertId } = this.#sql;
    // Ids are unique, and a record may move from one set to another: delete all ids before inserting any.
    for (const change of changes) for (const id of idsOnlyIn(change.before, change.after)) this.#removeId(id);
    for (const change of changes) {
      this.#writeSet(zone, change);
      for (const id of idsOnlyIn(change.after, change.before)) insertId.run(id, zone.number, change.owner, change.type);
    }
    for (const row of log) this.#log(row);
  }

  #removeId(id: string): void {
    this.#sql.deleteId.run(id);
    this.#rowCache.removedRecord(id);
  }

  #writeSet(zone: Zone, { owner, type, after }: Change): void {
    const { deleteSet, upsertSet } = this.#sql;
    if (after === null) deleteSet.run(zone.number, owner, type);
    else upsertSet.run(zone.number, owner, type, after.ttl, JSON.stringify(after.records), marksToText(after));
  }

  #log(row: Omit<LoggedRow, "position">): void {
    const { account, zone, zoneName, serial, at, actor, change } = row;
    const added = this.#sql.insertChange.run(account, zone, zoneName, serial, at, actor, JSON.stringify(change));
    const position = Number(added.lastInsertRowid);
    this.#logged.push({ position, account, zone, zoneName, serial, at, actor, change });
  }

  *#writingMany(effect: WriteEffect, rows: ManyRows): Steps<void> {
    this.#manyRows ??= prepareManyRows(this.#database);
    const next = (yield* this.#manyRows(effect, rows)) - effect.log.length + 1;
    for (const [i, row] of effect.log.entries()) {
      this.#logged.push({ ...row, position: next + i });
      yield;
    }
  }

  /** Zones changed in this transaction are not written to their rows yet, so they must stay cached. */
  #forgetRows(): void {
    this.#rowCache.forget();
    for (const zone of this.#changed.values()) this.#rowCache.keepZone(zone);
  }

  /** Sets that did not change keep their record ids, even if the caller passed new ones. */
  updateCache(zone: Zone, changes: readonly Change[], existing: readonly RRset[]): void {
    const before = Map.groupBy(existing, (set) => set.owner);
    for (const [owner, own] of Map.groupBy(changes, (change) => change.owner)) {
      const kept = before.get(owner)?.filter((set) => !own.some((change) => change.type === set.type)) ?? [];
      this.#rowCache.wroteSets(zone, owner, allReadBack([...kept, ...own.flatMap((change) => change.after ?? [])]));
    }
  }
}
