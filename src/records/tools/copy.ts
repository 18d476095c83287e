import { createHash } from "node:crypto";
import type { Fault } from "../../core/result.ts";
import {
  eachPart,
  everyTable,
  keyOf,
  type Row,
  type Table,
  type Tables,
  type ToolProgress,
  type WritableTables,
} from "./tables/table.ts";

/** What a table came to: the same rows in the same order have the same checksum, in every database. */
export type TableSum = { readonly table: string; readonly rows: number; readonly checksum: string };

export type CopyOutcome =
  | { readonly kind: "done"; readonly tables: readonly TableSum[] }
  | { readonly kind: "differs"; readonly faults: readonly Fault[] };

/** Small enough for the bound values of one statement, of the widest table. */
const rowsAtOnce = 1_000;

/**
 * Makes `to` hold the same rows as `from`, and then reads it all again to be sure. It changes only what differs: run again
 * after an interruption, it goes on where it ended, also when `from` has changed meanwhile.
 */
export async function copyTables(
  from: Tables,
  to: WritableTables,
  { tell, signal }: { readonly tell: (progress: ToolProgress) => void; readonly signal: AbortSignal },
): Promise<CopyOutcome> {
  const total = await countAll(from);
  // A row goes after those that refer to it, and comes after those that it refers to.
  for (const table of everyTable.toReversed()) await removeSurplus(from, to, table, signal);
  const sums: TableSum[] = [];
  let done = 0;
  for (const table of everyTable) {
    const sum = startSum(table);
    for await (const rows of eachPart(from, table, { limit: rowsAtOnce })) {
      signal.throwIfAborted();
      await putDifferent(to, table, rows, sum.last());
      sum.add(rows);
      done += rows.length;
      tell({ what: "copy", done, total });
    }
    if (table.counted) await to.setLastNumber(table, await from.lastNumber(table));
    sums.push(sum.end());
  }
  let verified = 0;
  const copied = await sumTables(to, signal, (rows) => {
    verified += rows;
    tell({ what: "verify", done: verified, total });
  });
  const faults = sums.flatMap((wanted, i) => differences(wanted, copied[i]));
  return faults.length > 0 ? { kind: "differs", faults } : { kind: "done", tables: sums };
}

export async function sumTables(
  tables: Tables,
  signal: AbortSignal,
  tell: (rows: number) => void,
): Promise<readonly TableSum[]> {
  const sums: TableSum[] = [];
  for (const table of everyTable) {
    const sum = startSum(table);
    for await (const rows of eachPart(tables, table, { limit: rowsAtOnce })) {
      signal.throwIfAborted();
      sum.add(rows);
      tell(rows.length);
    }
    sums.push(sum.end());
  }
  return sums;
}

async function countAll(tables: Tables): Promise<number> {
  let sum = 0;
  for (const table of everyTable) sum += await tables.count(table);
  return sum;
}

async function removeSurplus(from: Tables, to: WritableTables, table: Table, signal: AbortSignal): Promise<void> {
  for await (const rows of eachPart(to, table, { limit: rowsAtOnce })) {
    signal.throwIfAborted();
    const keys = rows.map((row) => keyOf(table, row));
    const there = new Set((await from.find(table, keys)).map((row) => JSON.stringify(keyOf(table, row))));
    await to.remove(
      table,
      keys.filter((key) => !there.has(JSON.stringify(key))),
    );
  }
}

async function putDifferent(
  to: WritableTables,
  table: Table,
  rows: readonly Row[],
  after: Row | undefined,
): Promise<void> {
  const last = rows.at(-1);
  const range = { after, to: last && keyOf(table, last), limit: rows.length };
  const there = new Set((await to.read(table, range)).map((row) => JSON.stringify(row)));
  const wanted = there.size === 0 ? rows : rows.filter((row) => !there.has(JSON.stringify(row)));
  await to.put(table, wanted);
}

function startSum(table: Table) {
  const hash = createHash("sha256");
  let count = 0;
  let last: Row | undefined;
  return {
    add: (rows: readonly Row[]): void => {
      for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
      count += rows.length;
      const end = rows.at(-1);
      if (end !== undefined) last = keyOf(table, end);
    },
    /** The key up to which rows were added. */
    last: (): Row | undefined => last,
    end: (): TableSum => ({ table: table.name, rows: count, checksum: hash.digest("hex") }),
  };
}

function differences(wanted: TableSum, copied: TableSum | undefined): readonly Fault[] {
  if (copied?.rows === wanted.rows && copied.checksum === wanted.checksum) return [];
  return [
    {
      code: "copy-differs",
      where: wanted.table,
      message: `${wanted.rows} rows were copied, and ${copied?.rows ?? 0} are there with ${copied?.rows === wanted.rows ? "other content" : "another count"}`,
      todo: "see that nothing else writes to the copy, and run the same command again",
    },
  ];
}
