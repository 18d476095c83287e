import { randomBytes } from "node:crypto";
import { constants, existsSync, statSync } from "node:fs";
import { chmod, copyFile, link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Fault } from "../../core/result.ts";
import { asDiskTrouble, sqliteKind, sqliteKinds } from "../../lib/sqlite/faults.ts";
import { DatabaseTrouble } from "../../lib/sqlite/migration-steps.ts";
import { isInUse, takeSole } from "../../lib/sqlite/sole.ts";
import { asNewFile, giveToOwnerOf } from "../../process/data-folder.ts";
import { type CheckCounts, type CheckTellers, checkStore } from "./check/check.ts";
import { copyTables } from "./copy.ts";
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
      readonly counts: CheckCounts;
    }
  | { readonly kind: "faulty"; readonly faults: readonly Fault[] };

/**
 * Backs up one consistent state of a SQLite file, even while a service writes to it. The backup gets its name only
 * once it is complete, checked and on disk.
 */
export const backupSqlite = (path: string, file: string, tellers: BackupTellers): Promise<BackupOutcome> =>
  intoPlace(file, tellers, async (draft) => {
    expectFile(path);
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

type Checked = { readonly counts: CheckCounts; readonly position: number };

async function checkDraft(
  draft: string,
  { signal }: BackupTellers,
): Promise<Checked | { readonly faults: readonly Fault[] }> {
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
const oneNameOnly: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "ENOSYS"]);

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

export type RestoreOutcome =
  /** `aside`: where the previous database, or what was left of it, is now. */
  | { readonly kind: "done"; readonly counts: CheckCounts; readonly aside: string | undefined }
  | Faulty
  | { readonly kind: "in-use" }
  | { readonly kind: "holds-data"; readonly zones: number; readonly tokens: number };

export type Faulty = { readonly kind: "faulty"; readonly faults: readonly Fault[] };

/**
 * Replaces `path` with a backup. The backup is copied and checked before anything else is touched. The old database is
 * kept beside it under another name.
 */
export async function restoreSqlite(
  file: string,
  path: string,
  { moveAside, now, signal }: { readonly moveAside: boolean; readonly now: Date; readonly signal: AbortSignal },
): Promise<RestoreOutcome> {
  expectBackup(file);
  const obstacle = await obstacleAt(path, moveAside);
  if (obstacle !== undefined) return obstacle;
  return await withDraft(path, (draft) =>
    withCheckedCopy(file, { draft, signal }, async (counts) => {
      await giveToOwnerOf(dirname(path), draft);
      await syncFile(draft);
      if (!existsSync(path)) return { kind: "done", counts, aside: await placeNew(draft, path, now) };
      const replaced = await takePlace(path, draft, { now });
      return replaced.kind === "in-use" ? replaced : { kind: "done", counts, aside: replaced.path };
    }),
  );
}

/** Copies a backup to `draft`, checks the copy, and calls `use` if it has no faults. */
export async function withCheckedCopy<T>(
  file: string,
  { draft, signal }: { readonly draft: string; readonly signal: AbortSignal },
  use: (counts: CheckCounts) => Promise<T>,
): Promise<T | Faulty> {
  await copyFile(file, draft, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await chmod(draft, 0o600);
  const checked = await checkCopy(draft, signal);
  return "faults" in checked ? { kind: "faulty", ...checked } : await use(checked.counts);
}

export function expectBackup(file: string): void {
  expectFile(file);
  // Opening and closing it merged its log into the file, unless another process has it open.
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new DatabaseTrouble(
      `${file} is in use, so it is not a backup; run moor store backup on it and restore the result.`,
    );
}

/** The content of a damaged database cannot be counted, so it can only be moved aside. */
async function obstacleAt(path: string, moveAside: boolean): Promise<RestoreOutcome | undefined> {
  if (isLogInUse(path)) return { kind: "in-use" };
  if (!existsSync(path)) return undefined;
  const state = fileState(path);
  if (state.kind === "folder") throw new DatabaseTrouble(`${path} is a folder; choose another data folder.`);
  if (state.kind === "good" && isInUse(path)) return { kind: "in-use" };
  const { zones, tokens } = state.kind === "good" ? await countIn(path) : unknownCounts;
  return zones + tokens === 0 || moveAside ? undefined : { kind: "holds-data", zones, tokens };
}

const unknownCounts = { zones: Number.NaN, tokens: Number.NaN };

async function countIn(path: string): Promise<typeof unknownCounts> {
  let tables: Tables | undefined;
  try {
    tables = readSqliteTables(path);
    return { zones: await tables.count(storeTables.zones), tokens: await tables.count(storeTables.tokens) };
  } catch (error) {
    if (sqliteKind(error) === sqliteKinds.damaged) return unknownCounts;
    throw error;
  } finally {
    await tables?.close();
  }
}

/** Closing it leaves a single file. */
async function checkCopy(
  draft: string,
  signal: AbortSignal,
): Promise<{ readonly counts: CheckCounts } | { readonly faults: readonly Fault[] }> {
  const tables: Tables = writeSqliteTables(draft);
  try {
    const faults: Fault[] = [];
    const counts = await checkStore(tables, { fault: (fault) => void faults.push(fault), signal });
    return faults.length > 0 ? { faults } : { counts };
  } finally {
    await tables.close();
  }
}

/**
 * There is a store at `path` at every moment, even if this process is killed: the old one gets a second name before
 * the new one takes over the first.
 */
export async function takePlace(
  path: string,
  draft: string,
  { now, put = rename }: { readonly now: Date; readonly put?: typeof rename },
): Promise<Aside> {
  const aside = asideOf(path, now);
  const sole = takeWhole(path);
  if (sole === "in-use") return { kind: "in-use" };
  try {
    await link(path, aside).catch((error: NodeJS.ErrnoException) => {
      if (!oneNameOnly.has(error.code ?? "")) throw error;
      return rename(path, aside);
    });
    await takeLogAway(path, aside);
    await syncFile(dirname(path));
    await put(draft, path);
  } finally {
    sole?.close();
  }
  await syncFile(dirname(path));
  return { kind: "aside", path: aside };
}

/**
 * Merges the write-ahead log into the file, so that the file is the whole database. A damaged database can neither be
 * merged nor locked; it is moved aside together with its log.
 */
function takeWhole(path: string): ReturnType<typeof takeSole> | undefined {
  if (fileState(path).kind === "no-database") return undefined;
  let sole: ReturnType<typeof takeSole> | undefined;
  try {
    sole = takeSole(path);
    if (sole !== "in-use") sole.exec("PRAGMA journal_mode = DELETE");
    return sole;
  } catch (error) {
    if (typeof sole === "object") sole.close();
    if (sqliteKind(error) === sqliteKinds.damaged) return undefined;
    throw error;
  }
}

type Aside = { readonly kind: "in-use" } | { readonly kind: "aside"; readonly path: string };

/**
 * A temporary place, on the same disk, for a file that will become `path` when it is complete. It is removed when
 * `make` ends. If the process was killed, the next draft in that folder removes it: the lock ended with the process.
 */
export async function withDraft<T>(path: string, make: (draft: string) => Promise<T>): Promise<T> {
  try {
    return await draftOf(path, make);
  } catch (error) {
    throw asDiskTrouble(error, dirname(path));
  }
}

async function draftOf<T>(path: string, make: (draft: string) => Promise<T>): Promise<T> {
  const parent = dirname(path);
  await removeDead(parent);
  const folder = join(parent, `.${basename(path)}.draft-${randomBytes(4).toString("hex")}`);
  const begun = `${folder}-begun`;
  await mkdir(begun, { mode: 0o700 });
  try {
    const sole = takeSole(lockIn(begun));
    if (sole === "in-use") throw new DatabaseTrouble(`another command is working in ${parent}; run this one again.`);
    try {
      // Under the name that `removeDead` looks for, a folder always has its lock.
      await rename(begun, folder);
      return await make(join(folder, "draft"));
    } finally {
      await rename(folder, begun).catch(() => undefined);
      sole.close();
    }
  } finally {
    for (const each of [begun, folder]) await rm(each, { recursive: true, force: true });
  }
}

const lockIn = (folder: string): string => join(folder, "lock");

/** A folder without a lock file is not one of ours. */
async function removeDead(parent: string): Promise<void> {
  // Some users can write to a folder but not list it; the cleanup is optional.
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => /^\..+\.draft-[0-9a-f]{8}$/.test(each))) {
    const folder = join(parent, name);
    try {
      if (existsSync(lockIn(folder)) && !isInUse(lockIn(folder))) await rm(folder, { recursive: true, force: true });
    } catch {
      // Another command is removing it too, or its owner has just finished.
    }
  }
}
