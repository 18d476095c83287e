import { createHash } from "node:crypto";
import type { Fault } from "../../core/result.ts";
import {
  eachPart,
  everyTable,
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

/** Copies all rows to an empty store, then reads all of it again to verify. */
export async function copyTables(
  from: Tables,
  to: WritableTables,
  { tell, signal }: { readonly tell: (progress: ToolProgress) => void; readonly signal: AbortSignal },
): Promise<CopyOutcome> {
  const total = await countAll(from);
  const sums: TableSum[] = [];
  let done = 0;
  for (const table of everyTable) {
    const sum = startSum(table);
    for await (const rows of eachPart(from, table, { limit: rowsPerPart })) {
      signal.throwIfAborted();
      await to.put(table, rows);
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

function startSum(table: Table) {
  const hash = createHash("sha256");
  let count = 0;
  return {
    add: (rows: readonly Row[]): void => {
      for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
      count += rows.length;
    },
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
      todo: "make sure that nothing else writes to the database, and run the same command again",
    },
  ];
}
