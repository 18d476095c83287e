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

/** The same rows in the same order have the same checksum in every database. */
export type TableSum = { readonly table: string; readonly rows: number; readonly checksum: string };

export type CopyOutcome =
  | { readonly kind: "done"; readonly tables: readonly TableSum[] }
  | { readonly kind: "differs"; readonly faults: readonly Fault[] };

/** Small enough that a statement for the widest table stays below the limit of bound values. */
const rowsPerPart = 1_000;

/**
 * Makes `to` hold the same rows as `from`, then reads all of it again to verify. It changes only what differs, so
 * after an interruption a second run resumes the copy, even if `from` has changed meanwhile.
 */
export async function copyTables(
  from: Tables,
  to: WritableTables,
  { tell, signal }: { readonly tell: (progress: ToolProgress) => void; readonly signal: AbortSignal },
): Promise<CopyOutcome> {
  const total = await countAll(from);
  // Foreign keys: delete the rows that refer to a row before the row itself, and insert them after it.
  for (const table of everyTable.toReversed()) await removeSurplus(from, to, table, signal);
  const sums: TableSum[] = [];
  let done = 0;
  for (const table of everyTable) {
    const sum = startSum(table);
    for await (const rows of eachPart(from, table, { limit: rowsPerPart })) {
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
    for await (const rows of eachPart(tables, table, { limit: rowsPerPart })) {
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
  for await (const rows of eachPart(to, table, { limit: rowsPerPart })) {
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
    /** The key of the last row that was added. */
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
      message:
        copied?.rows === wanted.rows
          ? `the content of its ${wanted.rows} rows differs after the copy`
          : `${wanted.rows} rows were copied, but the copy has ${copied?.rows ?? 0}`,
      todo: "make sure that nothing else writes to the copy, and run the same command again",
    },
  ];
}
