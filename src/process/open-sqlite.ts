import { chmodSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** A database file that cannot be used; the message says what to do. */
export class DatabaseTrouble extends Error {}

/**
 * Opens `path` (or `:memory:`), checks it, and takes the migration steps it has not taken yet. WAL with `synchronous=FULL`:
 * a commit is on disk when it returns, and other processes may read and write the same file.
 */
export function openSqlite(path: string, migrations: readonly string[]): DatabaseSync {
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
      `the database ${path} cannot be used: ${(error as Error).message}\n` +
        "Nothing was changed. Put a good copy of the file in its place, or move it away to start with an empty one.",
      { cause: error },
    );
  }
}

/** The last two keep a store of a million records as quick as a small one; memory is taken only for pages that are read. */
const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -65536;
  PRAGMA mmap_size = 1073741824;
`;

/** Reading a large file through would hold up every start; a fault there shows when its page is read. */
const checkedWhole = 64 * 1024 * 1024;

function checkFile(database: DatabaseSync, path: string): void {
  chmodSync(path, 0o600);
  if (statSync(path).size > checkedWhole) return;
  const [check] = database.prepare("PRAGMA quick_check(1)").all();
  if (check?.quick_check !== "ok") throw new Error(`its integrity check says: ${String(check?.quick_check)}`);
}

/** Two processes may start at once: the step count is read again under the write lock. */
function migrate(database: DatabaseSync, path: string, migrations: readonly string[]): void {
  if (stepsTaken(database) === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const taken = stepsTaken(database);
    if (taken > migrations.length) {
      throw new DatabaseTrouble(
        `the database ${path} was written by a newer moor (schema ${taken}, this one knows ${migrations.length}); ` +
          "start the newer version instead.",
      );
    }
    for (const step of migrations.slice(taken)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function stepsTaken(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}
