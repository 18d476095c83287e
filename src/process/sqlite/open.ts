import { chmodSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  DatabaseTrouble,
  type MigrationStep,
  type SchemaState,
  stateAfter,
  stepsFor,
  tooNew,
} from "../database/migration-steps.ts";
import { todoBesideFile } from "./faults.ts";

export { DatabaseTrouble };

/**
 * Opens `path` (or `:memory:`), checks it, and takes the migration steps it has not taken yet. WAL with `synchronous=FULL`:
 * a commit is on disk when it returns, and other processes may read and write the same file.
 */
export function openSqlite(path: string, migrations: readonly MigrationStep[]): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec(settings);
    if (path !== ":memory:") checkFile(database, path);
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

/**
 * The last two keep a store of a million records nearly as quick as a small one; memory is taken only for pages that are read. No
 * map of the file: it makes reads from such a store a third quicker, and takes 64 KB of memory for every page.
 */
const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 16000;
  PRAGMA cache_size = -65536;
`;

/** Reading a large file through would hold up every start; a fault there shows when its page is read. */
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
    for (const step of todo) database.exec(step);
    if (todo.length > 0) noteState(database, stateAfter(steps, state));
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

/** `PRAGMA user_version` counts the steps taken. The table is there once a program that knows fewer could do as well. */
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
