import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { openDataFolder } from "../../process/data-folder.ts";
import type { StorePlace } from "../../records/open-store.ts";
import {
  type BackupOutcome,
  type BackupTellers,
  backupSqlite,
  backupTables,
  expectBackup,
  type Faulty,
  type RestoreOutcome,
  restoreSqlite,
  withCheckedCopy,
  withDraft,
} from "../../records/tools/backup.ts";
import { readTables } from "../../records/tools/tables/open.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { showProgress } from "./progress.ts";
import { readStorePlace } from "./read-store-place.ts";
import { counted, countsInWords, faultsInWords, inMegabytes } from "./words.ts";

export async function storeBackup(file: string, options: DatabaseOptions, io: CommandIo): Promise<number> {
  const progress = showProgress(io);
  const tellers = { progress: progress.tell, signal: io.signal };
  const outcome = await backupOf(await readStorePlace(options, io), resolve(io.cwd, file), tellers).finally(
    progress.end,
  );
  if (outcome.kind === "faulty") {
    printFaults(outcome.faults, io);
    io.err(`No backup was written: the copy has ${faultsInWords(outcome.faults.length)}, and so does the store.\n`);
    return 1;
  }
  const { bytes, counts, position } = outcome;
  io.out(`${file}: ${inMegabytes(bytes)}, ${countsInWords(counts)}, up to change ${position}; checked.\n`);
  return 0;
}

async function backupOf(place: StorePlace, file: string, tellers: BackupTellers): Promise<BackupOutcome> {
  if (place.kind === "sqlite") return await backupSqlite(place.path, file, tellers);
  const tables = await readTables(place, "copy", tellers.signal);
  try {
    return await backupTables(tables, file, tellers);
  } finally {
    await tables.close();
  }
}

export async function storeRestore(
  file: string,
  options: DatabaseOptions & { readonly moveAside?: boolean },
  io: CommandIo,
): Promise<number> {
  const place = await readStorePlace(options, io);
  if (place.kind === "postgres") {
    if (!options.moveAside) return await restoreToServer(file, place, io);
    io.err(
      "--move-aside works only with files, and a PostgreSQL database must be empty; create a new database and give its URL.\n",
    );
    return 2;
  }
  const { path } = place;
  await openDataFolder(resolve(io.cwd, options.data));
  const how = { moveAside: options.moveAside ?? false, now: new Date(), signal: io.signal };
  const outcome = await restoreSqlite(resolve(io.cwd, file), path, how);
  return printRestored(outcome, file, path, io);
}

/** A checked backup is a store like any other, so this is a copy, with the same checks. */
async function restoreToServer(file: string, place: StorePlace, io: CommandIo): Promise<number> {
  const { copyStore } = await import("./copy.ts");
  const backup = resolve(io.cwd, file);
  expectBackup(backup);
  const outcome = await withDraft(join(tmpdir(), basename(file)), (draft) =>
    withCheckedCopy(backup, { draft, signal: io.signal }, () => copyStore({ kind: "sqlite", path: draft }, place, io)),
  );
  return typeof outcome === "number" ? outcome : printFaulty(outcome, file, io);
}

function printFaulty({ faults }: Faulty, file: string, io: CommandIo): number {
  printFaults(faults, io);
  io.err(`Nothing was changed: ${file} has ${faultsInWords(faults.length)}. Use another backup.\n`);
  return 1;
}

function printRestored(outcome: RestoreOutcome, file: string, path: string, io: CommandIo): number {
  switch (outcome.kind) {
    case "done":
      io.out(`Restored ${file} to ${path}: ${countsInWords(outcome.counts)}.\n`);
      if (outcome.aside !== undefined) io.out(`The old store was renamed to ${outcome.aside}\n`);
      return 0;
    case "faulty":
      return printFaulty(outcome, file, io);
    case "in-use":
      io.err(`${path} is in use by a running service or another command, so nothing was changed; stop it first.\n`);
      return 1;
    case "holds-data": {
      const what = Number.isNaN(outcome.zones)
        ? "data"
        : `${counted(outcome.zones, "zone")} and ${counted(outcome.tokens, "token")}`;
      io.err(
        `${path} already contains ${what}, so nothing was changed; to rename it and restore the backup in its place, ` +
          "add --move-aside.\n",
      );
      return 1;
    }
    default:
      return outcome satisfies never;
  }
}
