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
  /** Owner and type. */
  readonly gone: readonly (readonly [string, string])[];
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
  const rows = { goneIds: [], gone: [], sets: [], ids: [], log: [] } as {
    [Key in keyof ManyRows]: ManyRows[Key][number][];
  };
  for (const { owner, type, before, after } of changes) {
    rows.goneIds.push(...idsOnlyIn(before, after));
    for (const id of idsOnlyIn(after, before)) rows.ids.push([id, owner, type]);
    if (after === null) rows.gone.push([owner, type]);
    else rows.sets.push([owner, type, after.ttl, JSON.stringify(after.records), marksToText(after)]);
    yield;
  }
  for (const { change } of log) {
    rows.log.push(JSON.stringify(change));
    yield;
  }
  return rows;
}

/** Rows per statement: one statement per row takes twice as long. */
const perStatement = 50;

/** Call it inside a transaction. Returns the position of the last log row. */
export function prepareManyRows(database: DatabaseSync) {
  const deleteId = database.prepare("DELETE FROM record_ids WHERE id = ?");
  const deleteSet = database.prepare("DELETE FROM rrsets WHERE zone = ? AND owner = ? AND type = ?");
  const insertSets = prepareInsert(
    database,
    "INSERT INTO rrsets (zone, owner, type, ttl, records, marks)",
    "ON CONFLICT DO UPDATE SET ttl = excluded.ttl, records = excluded.records, marks = excluded.marks",
  );
  const insertIds = prepareInsert(database, "INSERT INTO record_ids (zone, id, owner, type)");
  const insertLog = prepareInsert(
    database,
    "INSERT INTO changes (account, zone, zone_name, serial, at, actor, change)",
  );

  return function* ({ zone, log }: Pick<WriteEffect, "zone" | "log">, rows: ManyRows): Steps<number> {
    const [first] = log;
    if (first === undefined) throw new Error("a write with changes must have log rows");
    // Ids are unique, and a record may move from one set to another: delete all ids before inserting any.
    for (const id of rows.goneIds) {
      deleteId.run(id);
      yield;
    }
    for (const [owner, type] of rows.gone) {
      deleteSet.run(zone.number, owner, type);
      yield;
    }
    yield* insertSets([zone.number], rows.sets);
    yield* insertIds([zone.number], rows.ids);
    const { account, zoneName, serial, at, actor } = first;
    const texts = rows.log.map((text) => [text]);
    return yield* insertLog([account, zone.number, zoneName, serial, at, actor], texts);
  };
}

/** Inserts rows that begin with the same values. Returns the number of the last row. */
function prepareInsert(database: DatabaseSync, into: string, tail = "") {
  const columns = into.split(",").length;
  const values = `(${Array(columns).fill("?").join(", ")})`;
  const statementFor = (count: number) =>
    database.prepare(`${into} VALUES ${Array(count).fill(values).join(", ")} ${tail}`);
  const [many, one] = [statementFor(perStatement), statementFor(1)];
  type Row = readonly SQLInputValue[];

  return function* (start: Row, rows: readonly Row[]): Steps<number> {
    let last: number | bigint = 0;
    for (let from = 0; from < rows.length; from += perStatement) {
      const some = rows.slice(from, from + perStatement);
      if (some.length === perStatement) last = many.run(...some.flatMap((row) => [...start, ...row])).lastInsertRowid;
      else for (const row of some) last = one.run(...start, ...row).lastInsertRowid;
      yield;
    }
    return Number(last);
  };
}
