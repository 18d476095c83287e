import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { placeNew, syncFile } from "../records/store-backup.ts";
import { type CopyOutcome, copyTables } from "../records/store-copy.ts";
import type { Tables, WritableTables } from "../records/store-table.ts";
import { readSqliteTables, writeSqliteTables } from "../records/store-table-sqlite.ts";
import type { CommandIo } from "./command-io.ts";
import { printTable } from "./print-table.ts";
import { tellFaults } from "./store-faults.ts";
import { readPlace, type StorePlace } from "./store-place.ts";
import { showProgress } from "./store-progress.ts";

export async function storeCopy(fromText: string, toText: string, io: CommandIo): Promise<number> {
  const [from, to] = [readPlace(fromText, io), readPlace(toText, io)];
  const obstacle = toObstacle(to);
  if (obstacle !== undefined) {
    io.err(`${obstacle}\n`);
    return 1;
  }
  const source = readSqliteTables(from.path);
  try {
    const outcome = await intoFile(source, to.path, io);
    if (outcome.kind === "differs") {
      tellFaults(outcome.faults, io);
      return 1;
    }
    io.out(printTable(["table", "rows", "sha256"], outcome.tables.map(row)));
    io.out(`${toText} holds the same as ${fromText}, by count and checksum of every table.\n`);
    return 0;
  } finally {
    await source.close();
  }
}

const row = ({ table, rows, checksum }: { table: string; rows: number; checksum: string }): readonly string[] => [
  table,
  String(rows),
  checksum.slice(0, 16),
];

function toObstacle({ path }: StorePlace): string | undefined {
  if (existsSync(path)) return `${path} is there already; name a new file, or move that one away.`;
  if (!existsSync(dirname(path))) return `there is no folder ${dirname(path)}; make it first, or name another place.`;
  return undefined;
}

/** What is not complete has another name; a copy that was broken off goes on with it. */
async function intoFile(source: Tables, path: string, io: CommandIo): Promise<CopyOutcome> {
  const part = `${path}.part`;
  if (existsSync(part)) io.err(`${part} is there from a copy that was broken off; it goes on.\n`);
  const target = writeSqliteTables(part);
  let outcome: CopyOutcome;
  try {
    outcome = await copyInto(source, target, io);
  } finally {
    await target.close();
  }
  if (outcome.kind === "differs") return outcome;
  await syncFile(part);
  await placeNew(part, path);
  return outcome;
}

async function copyInto(source: Tables, target: WritableTables, io: CommandIo): Promise<CopyOutcome> {
  const progress = showProgress(io);
  const tell = ({ what, done, total }: { what: string; done: number; total: number }) =>
    progress.tell(what, done, total);
  return await copyTables(source, target, { tell, signal: io.signal }).finally(progress.end);
}
