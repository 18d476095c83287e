import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { type Change, diffSets } from "../core/changes.ts";
import type { Instant } from "../core/instant.ts";
import type { RRset } from "../core/rrset.ts";
import { nextSerial } from "../core/serial.ts";
import type { KnownRows } from "./known-rows.ts";
import type { LoggedChange, Zone, ZoneSettings } from "./store.ts";
import { asRead, marksToText } from "./store-sqlite-rows.ts";

/** Turns zones and sets into rows. To be called inside a transaction; `known` learns of it at once. */
export type SetWriter = {
  /** Brings zone, sets and settings to what is wanted; gives the zone as it is then. */
  readonly replace: (zone: Zone, existing: readonly RRset[], wanted: Wanted, by: Writer) => Zone;
  /** The first sets of a zone, under the serial that it was made with. */
  readonly createSets: (zone: Zone, sets: readonly RRset[], by: Writer) => void;
  readonly begun: () => void;
  /** A zone with many writes in one transaction is written once, here. */
  readonly ending: () => void;
  /** What this transaction has put into the log. */
  readonly logged: () => readonly LoggedChange[];
};

type Wanted = {
  readonly sets: readonly RRset[] | undefined;
  readonly settings?: ZoneSettings | undefined;
  readonly serial?: number | undefined;
};
type Writer = { readonly actor: string; readonly now: Instant };

export function prepareSetWriter(database: DatabaseSync, known: KnownRows): SetWriter {
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

  let logged: LoggedChange[] = [];
  const changed = new Map<number, Zone>();

  const log = (zone: Zone, serial: number, { actor, now: at }: Writer, change: LoggedChange["change"]) => {
    const { account, number, name: zoneName } = zone;
    const added = insertChange.run(account, number, zoneName, serial, at, actor, JSON.stringify(change));
    logged.push({
      position: Number(added.lastInsertRowid),
      account,
      zone: number,
      zoneName,
      serial,
      at,
      actor,
      change,
    });
  };

  const writeSet = (zone: Zone, { owner, type, after }: Change) => {
    if (after === null) deleteSet.run(zone.number, owner, type);
    else upsertSet.run(zone.number, owner, type, after.ttl, JSON.stringify(after.records), marksToText(after));
  };

  const removeId = (id: string) => {
    deleteId.run(id);
    known.removedRecord(id);
  };

  const applyChanges = (zone: Zone, changes: readonly Change[], serial: number, by: Writer) => {
    // An id is unique, and a record may move from one set to another: all leave before any enters.
    for (const change of changes) for (const id of idsOnlyIn(change.before, change.after)) removeId(id);
    for (const change of changes) {
      writeSet(zone, change);
      for (const id of idsOnlyIn(change.after, change.before)) insertId.run(id, zone.number, change.owner, change.type);
      log(zone, serial, by, change);
    }
  };

  const tellKnown = (zone: Zone, changes: readonly Change[], sets: readonly RRset[]) => {
    for (const owner of new Set(changes.map((change) => change.owner))) {
      const there = sets.filter((set) => set.owner === owner && set.records.length > 0);
      known.wroteSets(zone, owner, there.map(asRead));
    }
  };

  return {
    replace: (zone, existing, wanted, by) => {
      const changes = wanted.sets ? diffSets(existing, wanted.sets) : [];
      const { settings = zone.settings } = wanted;
      const newSettings = settings !== zone.settings && !isDeepStrictEqual(settings, zone.settings);
      if (changes.length === 0 && !newSettings) return zone;
      const serial = wanted.serial ?? nextSerial(zone.serial, by.now);
      if (newSettings) log(zone, serial, by, { kind: "settings", before: zone.settings, after: settings });
      applyChanges(zone, changes, serial, by);
      const grown = changes.reduce((sum, { before, after }) => sum + sizeOf(after) - sizeOf(before), 0);
      const next = { ...zone, settings, serial, modified: by.now, recordCount: zone.recordCount + grown };
      if (newSettings) updateSettings.run(JSON.stringify(settings), zone.number);
      changed.set(next.number, next);
      known.wroteZone(next);
      tellKnown(next, changes, wanted.sets ?? []);
      return next;
    },
    createSets: (zone, sets, by) => applyChanges(zone, diffSets([], sets), zone.serial, by),
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

const sizeOf = (set: RRset | null): number => set?.records.length ?? 0;

function idsOnlyIn(set: RRset | null, other: RRset | null): readonly string[] {
  const known = new Set(other?.records.map((record) => record.id));
  return set?.records.map((record) => record.id).filter((id) => !known.has(id)) ?? [];
}
