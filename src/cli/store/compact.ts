import { statSync } from "node:fs";
import { isFullDisk } from "../../lib/sqlite/faults.ts";
import { takeSole } from "../../lib/sqlite/sole.ts";
import type { StorePlace } from "../../records/open-store.ts";
import { dropHistory } from "../../records/tools/keep-history.ts";
import { trimTables } from "../../records/tools/tables/open.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { readStorePlace } from "./read-store-place.ts";
import { counted, inMegabytes } from "./words.ts";

export type StoreCompact = DatabaseOptions & {
  /** Milliseconds; infinite or absent: keep everything. */
  readonly keepHistory?: number;
};

/** Drops old history if asked to, and returns unused space to the disk. */
export async function storeCompact(options: StoreCompact, io: CommandIo): Promise<number> {
  const place = await readStorePlace(options, io);
  const dropped = await dropOld(place, options.keepHistory ?? Number.POSITIVE_INFINITY, io);
  io.out(
    options.keepHistory === undefined
      ? "No changes were dropped; to drop old ones, add --keep-history TIME.\n"
      : `Dropped ${counted(dropped, "change")} older than --keep-history.\n`,
  );
  if (place.kind === "sqlite") return returnSpace(place.path, io);
  io.out("PostgreSQL reuses the space; to return it to the disk, run VACUUM FULL.\n");
  return 0;
}

function returnSpace(path: string, io: CommandIo): number {
  const before = statSync(path).size;
  const sole = takeSole(path);
  if (sole === "in-use") {
    io.err(
      `${path} is in use, so it keeps its free space for later writes. To return it to the disk, ` +
        "stop the service and run this again.\n",
    );
    return 0;
  }
  try {
    sole.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    io.err(
      `${path} was not compacted: a disk is full. Compacting needs as much free space as the store, both on its disk and for ` +
        "temporary files (SQLITE_TMPDIR, else /var/tmp). Free some space, and run this again.\n",
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
