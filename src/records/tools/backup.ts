import { constants, existsSync, statSync } from "node:fs";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Fault } from "../../core/result.ts";
import { DatabaseTrouble } from "../../lib/sqlite/open.ts";
import { asNewFile } from "../../process/data-folder.ts";
import { type CheckCounts, type CheckTellers, checkStore } from "./check/check.ts";
import { copyTables } from "./copy.ts";
import { withDraft } from "./draft-file.ts";
import { asideOf, isLogInUse, takeLogAway } from "./log-left.ts";
import { expectFile, fileState, isRefused, openQuietly, readSqliteTables, writeSqliteTables } from "./tables/sqlite.ts";
import { storeTables, type Tables, type ToolProgress } from "./tables/table.ts";

export type BackupTellers = Pick<CheckTellers, "signal"> & { readonly progress: (progress: ToolProgress) => void };

export type BackupOutcome =
  | {
      readonly kind: "done";
      readonly bytes: number;
      /** The last change it contains. */
      readonly position: number;
      /** Undefined for a backup with an older schema: only the file was checked, not its content. */
      readonly counts: CheckCounts | undefined;
    }
  | { readonly kind: "faulty"; readonly faults: readonly Fault[] };

/**
 * Backs up one consistent state of a SQLite file, even while a service writes to it. The backup gets its name only
 * once it is complete, checked and on disk.
 */
export const backupSqlite = (path: string, file: string, tellers: BackupTellers): Promise<BackupOutcome> =>
  intoPlace(file, tellers, async (draft) => {
    expectFile(path, ["older"]);
    const database = openQuietly(path);
    try {
      // Only the new file is written, but `query_only` forbids that too.
      database.exec("PRAGMA query_only = OFF");
      database.prepare("VACUUM INTO ?").run(draft);
    } finally {
      database.close();
    }
    return [];
  });

/** Writes the same kind of file from any other database. */
export const backupTables = (from: Tables, file: string, tellers: BackupTellers): Promise<BackupOutcome> =>
  intoPlace(file, tellers, async (draft) => {
    const to = writeSqliteTables(draft);
    try {
      const outcome = await copyTables(from, to, { tell: tellers.progress, signal: tellers.signal });
      return outcome.kind === "done" ? [] : outcome.faults;
    } finally {
      await to.close();
    }
  });

async function intoPlace(
  file: string,
  tellers: BackupTellers,
  write: (draft: string) => Promise<readonly Fault[]>,
): Promise<BackupOutcome> {
  expectFree(file);
  return await withDraft(file, async (draft) => {
    // SQLite accepts an empty file and keeps its mode.
    await (await open(draft, "wx", 0o600)).close();
    const faults = await write(draft);
    await setImmediate();
    tellers.signal.throwIfAborted();
    if (faults.length > 0) return { kind: "faulty", faults };
    const checked = await checkDraft(draft, tellers);
    if ("faults" in checked) return { kind: "faulty", faults: checked.faults };
    await syncFile(draft);
    await placeNew(draft, file, new Date());
    return { kind: "done", bytes: (await stat(file)).size, ...checked };
  });
}

type Checked = { readonly counts: CheckCounts | undefined; readonly position: number };

async function checkDraft(
  draft: string,
  { signal }: BackupTellers,
): Promise<Checked | { readonly faults: readonly Fault[] }> {
  if (fileState(draft).kind === "older") return { counts: undefined, position: 0 };
  const tables = readSqliteTables(draft);
  try {
    const faults: Fault[] = [];
    const fault = (each: Fault) => void (faults.length < maxFaults && faults.push(each));
    const counts = await checkStore(tables, { fault, signal });
    return faults.length > 0 ? { faults } : { counts, position: await tables.lastNumber(storeTables.changes) };
  } finally {
    await tables.close();
  }
}

const maxFaults = 100;

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Gives the complete file its name in one step and never overwrites another file. Returns where it moved a log that
 * was left there without a database.
 */
export async function placeNew(
  draft: string,
  path: string,
  now: Date,
  nameToo: typeof link = link,
): Promise<string | undefined> {
  expectUnused(path);
  const kept = existsSync(path) ? undefined : await takeLogAway(path, asideOf(path, now));
  await nameToo(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (!oneNameOnly.has(error.code ?? "")) throw error;
    return asNewFile(path, () => rename(draft, path));
  });
  await rm(draft, { force: true });
  await syncFile(dirname(path));
  return kept;
}

/** Errors of file systems without hard links: most USB sticks, many network shares. */
export const oneNameOnly: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "ENOSYS"]);

/** Throws unless a new file can be created at `path`. */
export function expectFree(path: string): void {
  if (existsSync(path))
    throw new DatabaseTrouble(`${path} already exists; give a new file, or move the existing one away.`);
  expectFolder(dirname(path));
  expectUnused(path);
}

function expectFolder(path: string): void {
  if (!existsSync(path))
    throw new DatabaseTrouble(`the folder ${path} does not exist; create it, or choose another place.`);
  if (!statSync(path).isDirectory()) throw new DatabaseTrouble(`${path} is not a folder; choose another place.`);
  if (isRefused(path, constants.W_OK | constants.X_OK))
    throw new DatabaseTrouble(`this user cannot write to ${path}; choose another place.`);
  if (isRefused(path, constants.W_OK, "EROFS"))
    throw new DatabaseTrouble(`the disk of ${path} is read-only; choose another place.`);
}

function expectUnused(path: string): void {
  if (isLogInUse(path))
    throw new DatabaseTrouble(
      `the database ${path} was moved away, but a service or another command still has it open; stop that process first.`,
    );
}
