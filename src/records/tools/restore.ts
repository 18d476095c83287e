import { existsSync, statSync } from "node:fs";
import { chmod, constants, copyFile, link, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Fault } from "../../core/result.ts";
import { sqliteKind, sqliteKinds } from "../../process/sqlite/faults.ts";
import { DatabaseTrouble } from "../../process/sqlite/open.ts";
import { giveToOwnerOf, oneNameOnly, placeNew, syncFile } from "./backup.ts";
import { type CheckCounts, checkStore } from "./check/check.ts";
import { withDraft } from "./draft-file.ts";
import { asideOf, isLogInUse, takeLogAway } from "./log-left.ts";
import { isInUse, takeSole } from "./tables/sole.ts";
import { expectFile, fileState, readSqliteTables, writeSqliteTables } from "./tables/sqlite.ts";
import { storeTables, type Tables } from "./tables/table.ts";

export type RestoreOutcome =
  /** `aside`: where the database is that was there before, or what was left of it. */
  | { readonly kind: "done"; readonly counts: CheckCounts; readonly aside: string | undefined }
  | Faulty
  | { readonly kind: "in-use" }
  | { readonly kind: "holds-data"; readonly zones: number; readonly tokens: number };

export type Faulty = { readonly kind: "faulty"; readonly faults: readonly Fault[] };

/**
 * Puts a backup in the place of `path`. The backup is copied, brought up to date and checked before anything else is
 * touched; what was in its place is kept beside it under another name.
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

/** Makes a copy of a backup at `draft`, brings it up to date and checks it; one without faults is what `use` is for. */
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
  expectFile(file, ["older"]);
  // Looking at it has brought its log into the file, unless somebody else has it open.
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new DatabaseTrouble(
      `${file} is in use, and so no backup; take one of it with moor store backup, and name that.`,
    );
}

/** A damaged database cannot tell what it holds: it may be moved aside, and nothing else. */
async function obstacleAt(path: string, moveAside: boolean): Promise<RestoreOutcome | undefined> {
  if (isLogInUse(path)) return { kind: "in-use" };
  if (!existsSync(path)) return undefined;
  const state = fileState(path);
  if (state.kind === "folder") throw new DatabaseTrouble(`${path} is a folder; name another data folder.`);
  if (state.kind === "good" && isInUse(path)) return { kind: "in-use" };
  const { zones, tokens } = state.kind === "good" ? await heldIn(path) : untold;
  return zones + tokens === 0 || moveAside ? undefined : { kind: "holds-data", zones, tokens };
}

const untold = { zones: Number.NaN, tokens: Number.NaN };

async function heldIn(path: string): Promise<typeof untold> {
  let tables: Tables | undefined;
  try {
    tables = readSqliteTables(path);
    return { zones: await tables.count(storeTables.zones), tokens: await tables.count(storeTables.tokens) };
  } catch (error) {
    if (sqliteKind(error) === sqliteKinds.damaged) return untold;
    throw error;
  } finally {
    await tables?.close();
  }
}

/** Opening it takes the steps that an older schema lacks; closing it leaves one file. */
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
 * There is a store at `path` at every moment, also when this is killed: the old one gets a second name before the new one
 * takes its first.
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
 * What is still in the write-ahead log goes into the file, which alone is then the whole database. A damaged one can do neither
 * this nor be locked, and goes aside with its log.
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
