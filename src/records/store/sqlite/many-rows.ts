import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Steps } from "../../../core/steps.ts";
import { marksToText } from "../rows.ts";
import { idsOnlyIn, type WriteEffect } from "../write-effect.ts";

/**
 * The rows of a large write, ready to be written. They do not name the zone: a new zone gets its number only when it
 * is written.
 */
export type ManyRows = {
  readonly goneIds: readonly string[];
  /** The owners of deleted sets by type. */
  readonly gone: ReadonlyMap<string, readonly string[]>;
  /** Owner, type, TTL, records and marks. */
  readonly sets: readonly (readonly [string, string, number | null, string, string | null])[];
  /** Id, owner and type. */
  readonly ids: readonly (readonly [string, string, string])[];
  /** The text of each change. */
  readonly log: readonly string[];
};

type Parts = Pick<WriteEffect, "changes"> & { readonly log: readonly Pick<WriteEffect["log"][number], "change">[] };

/** Done before the transaction, so that it takes half as long. */
export function* preparingRows({ changes, log }: Parts): Steps<ManyRows> {
  const gone = new Map<string, string[]>();
  const rows = { goneIds: [], sets: [], ids: [], log: [] } as {
    [Key in Exclude<keyof ManyRows, "gone">]: ManyRows[Key][number][];
  };
  for (const { owner, type, before, after } of changes) {
    rows.goneIds.push(...idsOnlyIn(before, after));
    for (const id of idsOnlyIn(after, before)) rows.ids.push([id, owner, type]);
    if (after !== null) rows.sets.push([owner, type, after.ttl, JSON.stringify(after.records), marksToText(after)]);
    else if (gone.get(type)?.push(owner) === undefined) gone.set(type, [owner]);
    yield;
  }
  for (const { change } of log) {
    rows.log.push(JSON.stringify(change));
    yield;
  }
  return { ...rows, gone };
}

/** Rows per statement: one statement per row takes twice as long, and more than this saves nothing. */
const perStatement = 100;

/** Call it inside a transaction. Returns the position of the last log row. */
export function prepareManyRows(database: DatabaseSync) {
  // Values that all rows share are bound once per statement, as ?1, ?2 and so on: binding is a third of the work.
  const each = (row: string, count: number) => Array(count).fill(row).join(", ");
  const deleteIds = prepareRows(database, (count) => `DELETE FROM record_ids WHERE id IN (${each("?", count)})`);
  const deleteSets = prepareRows(
    database,
    (count) => `DELETE FROM rrsets WHERE zone = ?1 AND type = ?2 AND owner IN (${each("?", count)})`,
  );
  const insertSets = prepareRows(
    database,
    (count) =>
      `INSERT INTO rrsets (zone, owner, type, ttl, records, marks) VALUES ${each("(?1, ?, ?, ?, ?, ?)", count)} ` +
      "ON CONFLICT DO UPDATE SET ttl = excluded.ttl, records = excluded.records, marks = excluded.marks",
  );
  const insertIds = prepareRows(
    database,
    (count) => `INSERT INTO record_ids (zone, id, owner, type) VALUES ${each("(?1, ?, ?, ?)", count)}`,
  );
  const insertLog = prepareRows(
    database,
    (count) =>
      "INSERT INTO changes (account, zone, zone_name, serial, at, actor, change) " +
      `VALUES ${each("(?1, ?2, ?3, ?4, ?5, ?6, ?)", count)}`,
  );

  return function* ({ zone, log }: Pick<WriteEffect, "zone" | "log">, rows: ManyRows): Steps<number> {
    const [first] = log;
    if (first === undefined) throw new Error("a write with changes must have log rows");
    // Ids are unique, and a record may move from one set to another: delete all ids before inserting any.
    yield* deleteIds([], rows.goneIds);
    for (const [type, owners] of rows.gone) yield* deleteSets([zone.number, type], owners);
    yield* insertSets([zone.number], rows.sets);
    yield* insertIds([zone.number], rows.ids);
    const { account, zoneName, serial, at, actor } = first;
    return yield* insertLog([account, zone.number, zoneName, serial, at, actor], rows.log);
  };
}

/**
 * Runs a statement for many rows; `text` is its text for a number of rows. Returns the number of the last row inserted.
 */
function prepareRows(database: DatabaseSync, text: (count: number) => string) {
  const [many, one] = [database.prepare(text(perStatement)), database.prepare(text(1))];

  return function* (
    shared: readonly SQLInputValue[],
    rows: readonly (SQLInputValue | readonly SQLInputValue[])[],
  ): Steps<number> {
    let last: number | bigint = 0;
    for (let from = 0; from < rows.length; from += perStatement) {
      const some = rows.slice(from, from + perStatement);
      if (some.length === perStatement) last = many.run(...shared, ...some.flat()).lastInsertRowid;
      else for (const row of some) last = one.run(...shared, ...[row].flat()).lastInsertRowid;
      yield;
    }
    return Number(last);
  };
}
