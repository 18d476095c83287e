import { statSync } from "node:fs";
import { dropHistory } from "../records/keep-history.ts";
import { takeSole } from "../records/store-table-sole.ts";
import { readSqliteTables, trimSqliteTables } from "../records/store-table-sqlite.ts";
import type { CommandIo } from "./command-io.ts";
import { type InStore, placeOfStore } from "./store-place.ts";

export type StoreCompact = InStore & {
  /** Milliseconds; infinite for all of it. */
  readonly keepHistory: number;
};

/** Drops the history that is too old and gives its space back to the disk. */
export async function storeCompact(options: StoreCompact, io: CommandIo): Promise<number> {
  const { path } = placeOfStore(options, io);
  // Says what is wrong with the file before anything is done to it.
  await readSqliteTables(path).close();
  const before = statSync(path).size;
  const dropped = await dropOld(path, options.keepHistory, io);
  io.out(`${dropped} changes were older than the history to keep, and are gone.\n`);
  const sole = takeSole(path);
  if (sole === "in-use") {
    io.err(
      `${path} is in use: its free space is used again by what is written next. To give it back to the disk, ` +
        "stop the service and run this again.\n",
    );
    return 0;
  }
  try {
    sole.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    sole.close();
  }
  const after = statSync(path).size;
  io.out(`${path}: ${inMegabytes(after)}, ${inMegabytes(Math.max(0, before - after))} less than before.\n`);
  return 0;
}

async function dropOld(path: string, keep: number, io: CommandIo): Promise<number> {
  const tables = trimSqliteTables(path);
  try {
    return await dropHistory(tables, { before: Date.now() - keep, rest: 20, signal: io.signal });
  } finally {
    await tables.close();
  }
}

const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
