import { statSync } from "node:fs";
import { isFullDisk } from "../../process/sqlite/faults.ts";
import type { StorePlace } from "../../records/open-store.ts";
import { dropHistory } from "../../records/tools/keep-history.ts";
import { trimTables } from "../../records/tools/tables/open.ts";
import { takeSole } from "../../records/tools/tables/sole.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { readStorePlace } from "./read-store-place.ts";
import { counted, inMegabytes } from "./words.ts";

export type StoreCompact = DatabaseOptions & {
  /** Milliseconds; infinite or absent: all of it. */
  readonly keepHistory?: number;
};

/** Drops the history that somebody wants to be rid of and gives unused space back to the disk. */
export async function storeCompact(options: StoreCompact, io: CommandIo): Promise<number> {
  const place = readStorePlace(options, io);
  const dropped = await dropOld(place, options.keepHistory ?? Number.POSITIVE_INFINITY, io);
  io.out(
    options.keepHistory === undefined
      ? "No change was dropped; --keep-history TIME drops those that are older.\n"
      : `${counted(dropped, "change")} older than the history to keep: gone.\n`,
  );
  if (place.kind === "sqlite") return giveBack(place.path, io);
  io.out("PostgreSQL uses the space again by itself; VACUUM FULL gives it back to the disk.\n");
  return 0;
}

function giveBack(path: string, io: CommandIo): number {
  const before = statSync(path).size;
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
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    io.err(
      `${path} is as large as it was: giving space back takes as much room as the store for a while, on its disk and where ` +
        "temporary files go (SQLITE_TMPDIR, else /var/tmp), and one of them is full. Make room there, and run this again.\n",
    );
    return 1;
  } finally {
    sole.close();
  }
  const after = statSync(path).size;
  io.out(`${path}: ${inMegabytes(after)}, ${inMegabytes(Math.max(0, before - after))} less than before.\n`);
  return 0;
}

async function dropOld(place: StorePlace, keep: number, io: CommandIo): Promise<number> {
  const tables = await trimTables(place);
  try {
    return await dropHistory(tables, { before: Date.now() - keep, rest: 20, signal: io.signal });
  } finally {
    await tables.close();
  }
}
