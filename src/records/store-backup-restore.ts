import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, constants, copyFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Fault } from "../core/result.ts";
import { DatabaseTrouble } from "../process/open-sqlite.ts";
import { giveToFolderOwner, placeNew, syncFile } from "./store-backup.ts";
import { type CheckCounts, checkStore } from "./store-check.ts";
import { asideOf, isLogInUse, takeLogAway } from "./store-log-left.ts";
import { storeTables, type Tables } from "./store-table.ts";
import { isInUse, takeSole } from "./store-table-sole.ts";
import { fileState, fileTrouble, readSqliteTables, writeSqliteTables } from "./store-table-sqlite.ts";

export type RestoreOutcome =
  /** `aside`: where the database is that was there before, or what was left of it. */
  | { readonly kind: "done"; readonly counts: CheckCounts; readonly aside: string | undefined }
  | { readonly kind: "faulty"; readonly faults: readonly Fault[] }
  | { readonly kind: "in-use" }
  | { readonly kind: "holds-data"; readonly zones: number; readonly tokens: number };

/**
 * Puts a backup in the place of `path`. The backup is copied, brought up to date and checked before anything else is
 * touched; what was in its place is kept beside it under another name.
 */
export async function restoreSqlite(
  file: string,
  path: string,
  { moveAside, now, signal }: { readonly moveAside: boolean; readonly now: Date; readonly signal: AbortSignal },
): Promise<RestoreOutcome> {
  const state = fileState(file);
  if (state.kind !== "good" && state.kind !== "older") throw new DatabaseTrouble(fileTrouble(file, state));
  const obstacle = await obstacleAt(path, moveAside);
  if (obstacle !== undefined) return obstacle;
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString("hex")}`);
  try {
    await copyFile(file, draft, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(draft, 0o600);
    const checked = await checkCopy(draft, signal);
    if ("faults" in checked) return { kind: "faulty", ...checked };
    await giveToFolderOwner(draft);
    await syncFile(draft);
    const aside = existsSync(path) ? await putAside(path, now) : undefined;
    if (aside?.kind === "in-use") return aside;
    const log = await placeNew(draft, path, now);
    return { kind: "done", ...checked, aside: aside?.path ?? log };
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) await rm(`${draft}${end}`, { force: true });
  }
}

/** A damaged database cannot tell what it holds: it may be moved aside, and nothing else. */
async function obstacleAt(path: string, moveAside: boolean): Promise<RestoreOutcome | undefined> {
  if (isLogInUse(path)) return { kind: "in-use" };
  if (!existsSync(path)) return undefined;
  const state = fileState(path);
  if (state.kind === "folder") throw new DatabaseTrouble(`${path} is a folder; name another data folder.`);
  if (state.kind !== "good")
    return moveAside ? undefined : { kind: "holds-data", zones: Number.NaN, tokens: Number.NaN };
  if (isInUse(path)) return { kind: "in-use" };
  const tables = readSqliteTables(path);
  try {
    const [zones, tokens] = [await tables.count(storeTables.zones), await tables.count(storeTables.tokens)];
    return zones + tokens > 0 && !moveAside ? { kind: "holds-data", zones, tokens } : undefined;
  } finally {
    await tables.close();
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

/** What is still in the write-ahead log goes into the file first, so that the file alone is the whole database. */
async function putAside(path: string, now: Date): Promise<Aside> {
  const aside = asideOf(path, now);
  const sole = fileState(path).kind === "no-database" ? undefined : takeSole(path);
  if (sole === "in-use") return { kind: "in-use" };
  try {
    sole?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    await rename(path, aside);
  } finally {
    sole?.close();
  }
  await takeLogAway(path, aside);
  return { kind: "aside", path: aside };
}

type Aside = { readonly kind: "in-use" } | { readonly kind: "aside"; readonly path: string };
