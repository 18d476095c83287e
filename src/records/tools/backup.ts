import { constants, existsSync, statSync } from "node:fs";
import { chown, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Fault } from "../../core/result.ts";
import { asNewFile } from "../../process/data-folder.ts";
import { DatabaseTrouble } from "../../process/sqlite/open.ts";
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
      /** The last change that is in it. */
      readonly position: number;
      /** Undefined: it is of an older moor's schema, and was only checked as a file. */
      readonly counts: CheckCounts | undefined;
    }
  | { readonly kind: "faulty"; readonly faults: readonly Fault[] };

/**
 * One state of a SQLite file, also while a service writes to it, as a file of its own. It comes into being under its name
 * only when it is complete, checked and on disk.
 */
export const backupSqlite = (path: string, file: string, tellers: BackupTellers): Promise<BackupOutcome> =>
  intoPlace(file, tellers, async (draft) => {
    expectFile(path, ["older"]);
    const database = openQuietly(path);
    try {
      // What is written is the new file, but SQLite counts that too.
      database.exec("PRAGMA query_only = OFF");
      database.prepare("VACUUM INTO ?").run(draft);
    } finally {
      database.close();
    }
    return [];
  });

/** The same file out of any other database. */
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
    // SQLite takes an empty file as it is, with its mode.
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
    const fault = (each: Fault) => void (faults.length < mostTold && faults.push(each));
    const counts = await checkStore(tables, { fault, signal });
    return faults.length > 0 ? { faults } : { counts, position: await tables.lastNumber(storeTables.changes) };
  } finally {
    await tables.close();
  }
}

const mostTold = 100;

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Under its name at once and whole; never over another file. Where the log is kept that lay there without a database. */
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

/** What a disk says on which a file cannot have two names: most USB sticks, and many that are shared over a network. */
export const oneNameOnly: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "ENOSYS"]);

/** A place for a new file. */
export function expectFree(path: string): void {
  if (existsSync(path)) throw new DatabaseTrouble(`${path} is there already; name a new file, or move that one away.`);
  expectFolder(dirname(path));
  expectUnused(path);
}

function expectFolder(path: string): void {
  if (!existsSync(path)) throw new DatabaseTrouble(`there is no folder ${path}; make it first, or name another place.`);
  if (!statSync(path).isDirectory()) throw new DatabaseTrouble(`${path} is no folder; name another place.`);
  if (isRefused(path, constants.W_OK | constants.X_OK))
    throw new DatabaseTrouble(`this user may not write to ${path}; name another place.`);
  if (isRefused(path, constants.W_OK, "EROFS"))
    throw new DatabaseTrouble(`the disk of ${path} is read-only; name another place.`);
}

function expectUnused(path: string): void {
  if (isLogInUse(path))
    throw new DatabaseTrouble(
      `the database of ${path} was moved away, but a service or another command still has it open; stop that first.`,
    );
}

/** Root may have made it, for a service that runs as the owner of the folder and must open it. */
export async function giveToOwnerOf(folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await chown(path, uid, gid);
}
