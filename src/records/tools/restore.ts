import { existsSync, statSync } from "node:fs";
import { chmod, constants, copyFile, link, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Fault } from "../../core/result.ts";
import { sqliteKind, sqliteKinds } from "../../lib/sqlite/faults.ts";
import { DatabaseTrouble } from "../../lib/sqlite/open.ts";
import { isInUse, takeSole } from "../../lib/sqlite/sole.ts";
import { giveToOwnerOf } from "../../process/data-folder.ts";
import { oneNameOnly, placeNew, syncFile } from "./backup.ts";
import { type CheckCounts, checkStore } from "./check/check.ts";
import { withDraft } from "./draft-file.ts";
import { asideOf, isLogInUse, takeLogAway } from "./log-left.ts";
import { expectFile, fileState, readSqliteTables, writeSqliteTables } from "./tables/sqlite.ts";
import { storeTables, type Tables } from "./tables/table.ts";

export type RestoreOutcome =
  /** `aside`: where the previous database, or what was left of it, is now. */
  | { readonly kind: "done"; readonly counts: CheckCounts; readonly aside: string | undefined }
  | Faulty
  | { readonly kind: "in-use" }
  | { readonly kind: "holds-data"; readonly zones: number; readonly tokens: number };

export type Faulty = { readonly kind: "faulty"; readonly faults: readonly Fault[] };

/**
 * Replaces `path` with a backup. The backup is copied, upgraded to the current schema and checked before anything
 * else is touched. The old database is kept beside it under another name.
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

/** Copies a backup to `draft`, upgrades and checks the copy, and calls `use` if it has no faults. */
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

/** Opening it upgrades an older schema; closing it leaves a single file. */
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
