import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { StorePlace } from "../records/open-store.ts";
import { expectFree, giveToFolderOwner, placeNew, syncFile } from "../records/store-backup.ts";
import { type CopyOutcome, copyTables, type TableSum } from "../records/store-copy.ts";
import type { Tables, WritableTables } from "../records/store-table.ts";
import { readTables } from "../records/store-table-open.ts";
import { writeSqliteTables } from "../records/store-table-sqlite.ts";
import { partOf } from "../records/unfinished-copy.ts";
import type { CommandIo } from "./command-io.ts";
import type { DatabaseOptions } from "./database-options.ts";
import { printTable } from "./print-table.ts";
import { tellFaults } from "./store-faults.ts";
import { readPlace } from "./store-place.ts";
import { showProgress } from "./store-progress.ts";

export async function storeCopy(
  fromText: string,
  toText: string,
  options: Omit<DatabaseOptions, "data">,
  io: CommandIo,
): Promise<number> {
  const [from, to] = [readPlace(fromText, options, io), readPlace(toText, options, io)];
  return await copyPlaces(from, to, io);
}

/** A backup into a database. */
export const copyStore = (file: string, to: StorePlace, io: CommandIo): Promise<number> =>
  copyPlaces({ kind: "sqlite", path: resolve(io.cwd, file) }, to, io);

async function copyPlaces(from: StorePlace, to: StorePlace, io: CommandIo): Promise<number> {
  if (to.kind === "sqlite") expectFree(to.path);
  const source = await readTables(from, "copy");
  try {
    const outcome = to.kind === "sqlite" ? await intoFile(source, to.path, io) : await intoServer(source, to, io);
    if (outcome.kind === "differs") {
      tellFaults(outcome.faults, io);
      return 1;
    }
    io.out(printTable(["table", "rows", "sha256"], outcome.tables.map(row)));
    io.out("The copy holds the same, by count and checksum of every table.\n");
    return 0;
  } finally {
    await source.close();
  }
}

const row = ({ table, rows, checksum }: TableSum): readonly string[] => [table, String(rows), checksum.slice(0, 16)];

/** What is not complete has another name; a copy that was broken off goes on with it. */
async function intoFile(source: Tables, path: string, io: CommandIo): Promise<CopyOutcome> {
  const part = partOf(path);
  if (existsSync(part)) io.err(`${part} is there from a copy that was broken off; it goes on.\n`);
  const outcome = await copyInto(source, writeSqliteTables(part), io);
  if (outcome.kind === "differs") return outcome;
  await giveToFolderOwner(part);
  await syncFile(part);
  const log = await placeNew(part, path, new Date());
  if (log !== undefined) io.err(`${path}-wal was there without its database; it is kept as ${log}\n`);
  return outcome;
}

async function intoServer(
  source: Tables,
  { address }: Extract<StorePlace, { kind: "postgres" }>,
  io: CommandIo,
): Promise<CopyOutcome> {
  const { writePostgresTables } = await import("../records/store-table-postgres.ts");
  const { tables, goesOn, finish } = await writePostgresTables(address);
  if (goesOn) io.err(`${address.shown} has a copy that was broken off; it goes on.\n`);
  return await copyInto(source, tables, io, finish);
}

async function copyInto(
  source: Tables,
  target: WritableTables,
  io: CommandIo,
  finish: () => Promise<void> = async () => undefined,
): Promise<CopyOutcome> {
  const progress = showProgress(io);
  const tell = ({ what, done, total }: { what: string; done: number; total: number }) =>
    progress.tell(what, done, total);
  try {
    const outcome = await copyTables(source, target, { tell, signal: io.signal });
    if (outcome.kind === "done") await finish();
    return outcome;
  } finally {
    progress.end();
    await target.close();
  }
}
