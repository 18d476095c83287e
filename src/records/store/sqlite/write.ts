import type { DatabaseSync } from "node:sqlite";
import type { Change } from "../../../core/records/changes.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { finish, type Steps } from "../../../core/steps.ts";
import type { LoggedRow, Zone } from "../../model.ts";
import { asAllRead, marksToText } from "../rows.ts";
import { firstEffect, idsOnlyIn, type WriteEffect, type Writer } from "../write-effect.ts";
import type { KnownRows } from "./known-rows.ts";
import { type ManyRows, prepareManyRows } from "./many-rows.ts";
import type { SignedNames } from "./signed/names.ts";

/** Turns the effect of a write into rows. Call it inside a transaction; the cache `known` is updated immediately. */
export type SetWriter = {
  /** `existing` are the sets that the write could see. */
  readonly apply: (effect: WriteEffect, existing: readonly RRset[]) => void;
  /** The first sets of a zone, under its initial serial. */
  readonly createSets: (zone: Zone, created: readonly Change[], by: Writer) => void;
  /** Like `apply`, for a large write with prepared rows. */
  readonly applying: (effect: WriteEffect, rows: ManyRows) => Steps<void>;
  readonly creatingSets: (zone: Zone, created: readonly Change[], by: Writer, rows: ManyRows) => Steps<void>;
  /** The zone's row was deleted. */
  readonly removed: (zone: Zone) => void;
  readonly begun: () => void;
  /** Zones are written here, once per transaction. */
  readonly ending: () => void;
  /** The rows that this transaction added to the log. */
  readonly logged: () => readonly LoggedRow[];
};

export function prepareSetWriter(database: DatabaseSync, known: KnownRows, signed: () => SignedNames): SetWriter {
  const updateZone = database.prepare("UPDATE zones SET serial = ?, modified = ?, record_count = ? WHERE number = ?");
  const updateSettings = database.prepare("UPDATE zones SET settings = ? WHERE number = ?");
  const upsertSet = database.prepare(
    "INSERT INTO rrsets (zone, owner, type, ttl, records, marks) VALUES (?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT DO UPDATE SET ttl = excluded.ttl, records = excluded.records, marks = excluded.marks",
  );
  const deleteSet = database.prepare("DELETE FROM rrsets WHERE zone = ? AND owner = ? AND type = ?");
  const insertId = database.prepare("INSERT INTO record_ids (id, zone, owner, type) VALUES (?, ?, ?, ?)");
  const deleteId = database.prepare("DELETE FROM record_ids WHERE id = ?");
  const insertChange = database.prepare(
    "INSERT INTO changes (account, zone, zone_name, serial, at, actor, change) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );

  let logged: LoggedRow[] = [];
  const changed = new Map<number, Zone>();

  const log = (row: Omit<LoggedRow, "position">) => {
    const { account, zone, zoneName, serial, at, actor, change } = row;
    const added = insertChange.run(account, zone, zoneName, serial, at, actor, JSON.stringify(change));
    logged.push({ position: Number(added.lastInsertRowid), account, zone, zoneName, serial, at, actor, change });
  };

  const writeSet = (zone: Zone, { owner, type, after }: Change) => {
    if (after === null) deleteSet.run(zone.number, owner, type);
    else upsertSet.run(zone.number, owner, type, after.ttl, JSON.stringify(after.records), marksToText(after));
  };

  const removeId = (id: string) => {
    deleteId.run(id);
    known.removedRecord(id);
  };

  const writeZone = ({ zone, newSettings, names, keys = [] }: WriteEffect) => {
    if (newSettings) updateSettings.run(JSON.stringify(zone.settings), zone.number);
    if (newSettings && names !== undefined) signed().writeKeys(zone, keys);
    changed.set(zone.number, zone);
    known.wroteZone(zone);
  };

  const withMovedNames = (effect: WriteEffect): WriteEffect =>
    effect.namesMove ? { ...effect, zone: signed().move(effect.zone, effect.namesMove) } : effect;

  /** If the zone is no longer signed, `names` are deleted from where they were. */
  function* writingNames({ zone: { namesAt }, names }: WriteEffect, before: Zone): Steps<void> {
    if (names !== undefined && names.length > 0) yield* signed().writing(namesAt ?? before.namesAt ?? 0, names);
  }

  const writeRows = ({ zone, changes, log: rows }: WriteEffect) => {
    // Ids are unique, and a record may move from one set to another: delete all ids before inserting any.
    for (const change of changes) for (const id of idsOnlyIn(change.before, change.after)) removeId(id);
    for (const change of changes) {
      writeSet(zone, change);
      for (const id of idsOnlyIn(change.after, change.before)) insertId.run(id, zone.number, change.owner, change.type);
    }
    for (const row of rows) log(row);
  };

  let manyRows: ReturnType<typeof prepareManyRows> | undefined;
  function* writingMany(effect: WriteEffect, rows: ManyRows): Steps<void> {
    manyRows ??= prepareManyRows(database);
    const next = (yield* manyRows(effect, rows)) - effect.log.length + 1;
    for (const [i, row] of effect.log.entries()) {
      logged.push({ ...row, position: next + i });
      yield;
    }
  }

  /** Zones changed in this transaction are not written to their rows yet, so they must stay cached. */
  const forgetRows = () => {
    known.forget();
    for (const zone of changed.values()) known.wroteZone(zone);
  };

  /** Sets that did not change keep their record ids, even if the caller passed new ones. */
  const updateKnown = (zone: Zone, changes: readonly Change[], existing: readonly RRset[]) => {
    const before = Map.groupBy(existing, (set) => set.owner);
    for (const [owner, own] of Map.groupBy(changes, (change) => change.owner)) {
      const kept = before.get(owner)?.filter((set) => !own.some((change) => change.type === set.type)) ?? [];
      known.wroteSets(zone, owner, asAllRead([...kept, ...own.flatMap((change) => change.after ?? [])]));
    }
  };

  return {
    apply: (planned, existing) => {
      const effect = withMovedNames(planned);
      writeZone(effect);
      writeRows(effect);
      finish(writingNames(effect, planned.zone));
      known.wroteNames(effect.zone, effect.names ?? []);
      updateKnown(effect.zone, effect.changes, existing);
    },
    createSets: (zone, created, by) => writeRows(firstEffect(zone, created, by)),
    *applying(planned, rows) {
      const effect = withMovedNames(planned);
      writeZone(effect);
      yield* writingMany(effect, rows);
      yield* writingNames(effect, planned.zone);
      forgetRows();
    },
    creatingSets: (zone, created, by, rows) => writingMany(firstEffect(zone, created, by), rows),
    removed: (zone) => {
      changed.delete(zone.number);
      forgetRows();
    },
    begun: () => {
      logged = [];
      changed.clear();
    },
    ending: () => {
      for (const { serial, modified, recordCount, number } of changed.values())
        updateZone.run(serial, modified, recordCount, number);
    },
    logged: () => logged,
  };
}
