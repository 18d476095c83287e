import { chmodSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { todoBesideFile } from "./faults.ts";
import {
  DatabaseTrouble,
  type MigrationStep,
  type SchemaState,
  stateAfter,
  stepsFor,
  tooNew,
} from "./migration-steps.ts";

export { DatabaseTrouble };

/**
 * Opens `path` (or `:memory:`), checks it, and runs the missing migration steps. WAL with `synchronous=FULL`: a commit
 * is on disk when it returns, and other processes may read and write the same file. `mayBeEmpty`: the caller has just
 * made the file.
 */
export function openSqlite(
  path: string,
  migrations: readonly MigrationStep[],
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    if (path !== ":memory:" && !mayBeEmpty) refuseEmpty(path);
    database = new DatabaseSync(path);
    database.exec(settings);
    if (path !== ":memory:") checkFile(database, path);
    database.exec(cache);
    migrate(database, path, migrations);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof DatabaseTrouble) throw error;
    throw new DatabaseTrouble(
      `the database ${path} cannot be used: ${(error as Error).message}\nNothing was changed. ${todoBesideFile(error) ?? fileTodo}`,
      { cause: error },
    );
  }
}

const fileTodo = "Replace the file with a good copy, or move it away to start with an empty database.";

const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 16000;
`;

/**
 * This and the rare checkpoints keep a store with a million records nearly as fast as a small one; the cache uses
 * memory only for pages that are read. It is set after the check, which reads the whole file and would fill it. No
 * memory map: it would make reads from such a store a third faster, but use 64 KB of memory per page.
 */
const cache = "PRAGMA cache_size = -65536";

/**
 * SQLite takes an empty file for a new database. But one that is there already has lost its content, for example on a
 * full disk or by a failed copy. A file is also empty for a moment while another process creates it.
 */
function refuseEmpty(path: string): void {
  const isEmpty = () => statSync(path, { throwIfNoEntry: false })?.size === 0;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; isEmpty(); waited += pause) {
    if (waited >= creationTime) throw new Error("the file is empty");
    Atomics.wait(clock, 0, 0, pause);
  }
}

/** Milliseconds. */
const [creationTime, pause] = [2_000, 100];

/** Checking all of a larger file would delay every start; damage to a page shows when the page is read. */
const checkedWhole = 64 * 1024 * 1024;

function checkFile(database: DatabaseSync, path: string): void {
  chmodSync(path, 0o600);
  if (statSync(path).size > checkedWhole) return;
  const [check] = database.prepare("PRAGMA quick_check(1)").all();
  if (check?.quick_check !== "ok") throw new Error(`its integrity check failed: ${String(check?.quick_check)}`);
}

/** Two processes may start at the same time: the state is read again under the write lock. */
function migrate(database: DatabaseSync, path: string, steps: readonly MigrationStep[]): void {
  if (stepsFor(steps, stateOf(database)).length === 0) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const state = stateOf(database);
    const todo = stepsFor(steps, state);
    if (todo === "too-new") throw tooNew(path, steps, state);
    if (state.taken === 0 && hasTables(database)) throw new Error("it has tables of another program");
    for (const step of todo) database.exec(step);
    if (todo.length > 0) noteState(database, stateAfter(steps, state));
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

const hasTables = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;

/**
 * `PRAGMA user_version` counts the steps. `schema_oldest` exists only if a program that knows fewer steps can use the
 * database too.
 */
function stateOf(database: DatabaseSync): SchemaState {
  const taken = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  const there = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_oldest'").get();
  if (there === undefined) return { taken, oldest: taken };
  return { taken, oldest: Number(database.prepare("SELECT oldest FROM schema_oldest").get()?.oldest) };
}

function noteState(database: DatabaseSync, { taken, oldest }: SchemaState): void {
  database.exec(`PRAGMA user_version = ${taken}`);
  database.exec("DROP TABLE IF EXISTS schema_oldest");
  if (oldest < taken) {
    database.exec(
      `CREATE TABLE schema_oldest (oldest INTEGER NOT NULL) STRICT; INSERT INTO schema_oldest VALUES (${oldest})`,
    );
  }
}
