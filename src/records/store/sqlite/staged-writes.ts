import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Change } from "../../../core/records/changes.ts";
import { marksToText } from "../rows.ts";
import { idsOnlyIn, type WriteEffect } from "../write-effect.ts";

/**
 * The rows of a large write, in temporary tables. They do not name the zone: a new zone gets its number only when it
 * is written.
 */
export type Staged = {
  /** Copies them into the tables of the store; call it inside a transaction. Returns the position of the last log row. */
  readonly apply: (effect: Pick<WriteEffect, "zone" | "log">) => number;
  readonly drop: () => void;
};

const changesPerTurn = 100;

/**
 * A transaction cannot be split, so it does as little as possible: the rows of a large write are put into temporary
 * tables beforehand, a few per turn of the event loop, and the transaction copies them with one statement per table.
 * That takes 5 µs per set instead of 20.
 */
export function prepareStaging(database: DatabaseSync) {
  database.exec(tables);
  const stage = {
    gone: database.prepare("INSERT INTO temp.gone_sets VALUES (?, ?, ?)"),
    goneId: database.prepare("INSERT INTO temp.gone_ids VALUES (?, ?)"),
    set: database.prepare("INSERT INTO temp.new_sets VALUES (?, ?, ?, ?, ?, ?)"),
    id: database.prepare("INSERT INTO temp.new_ids VALUES (?, ?, ?, ?)"),
    log: database.prepare("INSERT INTO temp.new_changes VALUES (?, ?)"),
  };
  const apply = {
    goneIds: database.prepare("DELETE FROM record_ids WHERE id IN (SELECT id FROM temp.gone_ids WHERE write = ?)"),
    gone: database.prepare(
      "DELETE FROM rrsets WHERE zone = ?1 AND (owner, type) IN (SELECT owner, type FROM temp.gone_sets WHERE write = ?2)",
    ),
    sets: database.prepare(
      "INSERT INTO rrsets (zone, owner, type, ttl, records, marks) " +
        "SELECT ?1, owner, type, ttl, records, marks FROM temp.new_sets WHERE write = ?2 ORDER BY owner, type " +
        "ON CONFLICT DO UPDATE SET ttl = excluded.ttl, records = excluded.records, marks = excluded.marks",
    ),
    ids: database.prepare(
      "INSERT INTO record_ids (id, zone, owner, type) " +
        "SELECT id, ?1, owner, type FROM temp.new_ids WHERE write = ?2 ORDER BY id",
    ),
    log: database.prepare(
      "INSERT INTO changes (account, zone, zone_name, serial, at, actor, change) " +
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6, change FROM temp.new_changes WHERE write = ?7 ORDER BY rowid",
    ),
  };
  const drops = staged.map((table) => database.prepare(`DELETE FROM temp.${table} WHERE write = ?`));
  let writes = 0;

  const put = (write: number, change: Change): void => {
    const { owner, type, before, after } = change;
    for (const id of idsOnlyIn(before, after)) stage.goneId.run(write, id);
    for (const id of idsOnlyIn(after, before)) stage.id.run(write, id, owner, type);
    if (after === null) stage.gone.run(write, owner, type);
    else stage.set.run(write, owner, type, after.ttl, JSON.stringify(after.records), marksToText(after));
    stage.log.run(write, JSON.stringify(change));
  };

  return async ({ changes, log }: Pick<WriteEffect, "changes" | "log">): Promise<Staged> => {
    writes += 1;
    const write = writes;
    // A change of the zone's settings is logged first, and belongs to no set.
    for (const { change } of log) if (change.kind === "settings") stage.log.run(write, JSON.stringify(change));
    for (let from = 0; from < changes.length; from += changesPerTurn) {
      await nextTurn();
      for (const change of changes.slice(from, from + changesPerTurn)) put(write, change);
    }
    return {
      apply: ({ zone, log: rows }) => {
        const [first] = rows;
        if (first === undefined) throw new Error("a write with changes must have log rows");
        apply.goneIds.run(write);
        apply.gone.run(zone.number, write);
        apply.sets.run(zone.number, write);
        apply.ids.run(zone.number, write);
        const { account, zoneName, serial, at, actor } = first;
        const { lastInsertRowid } = apply.log.run(account, zone.number, zoneName, serial, at, actor, write);
        return Number(lastInsertRowid);
      },
      drop: () => {
        for (const each of drops) each.run(write);
      },
    };
  };
}

const staged = ["gone_sets", "gone_ids", "new_sets", "new_ids", "new_changes"] as const;

const tables = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE gone_sets (write INTEGER, owner TEXT, type TEXT);
  CREATE TEMP TABLE gone_ids (write INTEGER, id TEXT);
  CREATE TEMP TABLE new_sets (write INTEGER, owner TEXT, type TEXT, ttl INTEGER, records TEXT, marks TEXT);
  CREATE TEMP TABLE new_ids (write INTEGER, id TEXT, owner TEXT, type TEXT);
  CREATE TEMP TABLE new_changes (write INTEGER, change TEXT);
`;
