import { createSessionStore } from "../../../access/session-store.ts";
import type { MigrationStep } from "../../../lib/sqlite/migration-steps.ts";
import { openSqlite } from "../../../lib/sqlite/open.ts";
import { sqliteSql } from "../../../lib/sqlite/run-sql.ts";
import type { ConsoleStore } from "../console-store.ts";
import { createSqlConsole } from "../sql/console.ts";

export type SqliteConsole = Omit<ConsoleStore, "close"> & { readonly close: () => void };

/**
 * Opens the database file of the record service over a separate connection. The file must have been opened as a store
 * before.
 */
export function openConsoleStore(path: string, migrations: readonly MigrationStep[]): SqliteConsole {
  const database = openSqlite(path, migrations);
  const sql = sqliteSql(database);
  return { ...createSqlConsole(sql), sessions: createSessionStore(sql), close: () => database.close() };
}
