import { openSessionStore, sessionTables } from "../access/session-store-sqlite.ts";
import type { MigrationStep } from "../process/migration-steps.ts";
import { openSqlite } from "../process/open-sqlite.ts";
import type { ConsoleStore, LoginAccount } from "./console-store.ts";

/** A step of the record service's schema. */
export const consoleTables = `
  ${sessionTables}
  CREATE TABLE console_passwords (
    account INTEGER PRIMARY KEY REFERENCES accounts,
    hash TEXT NOT NULL,
    changed INTEGER NOT NULL
  ) STRICT;
`;

export type SqliteConsole = Omit<ConsoleStore, "close"> & { readonly close: () => void };

/** The database file of the record service, over a connection of its own: the file must have been opened as a store before. */
export function openConsoleStore(path: string, migrations: readonly MigrationStep[]): SqliteConsole {
  const database = openSqlite(path, migrations);
  const columns = "SELECT id, name, hash FROM accounts LEFT JOIN console_passwords ON account = accounts.id";
  const byId = database.prepare(`${columns} WHERE accounts.id = ?`);
  const byName = database.prepare(`${columns} WHERE accounts.name = ?`);
  const setPassword = database.prepare(
    "INSERT INTO console_passwords (account, hash, changed) VALUES (?, ?, ?) " +
      "ON CONFLICT (account) DO UPDATE SET hash = excluded.hash, changed = excluded.changed",
  );
  const anyPassword = database.prepare("SELECT 1 FROM console_passwords LIMIT 1");
  return {
    sessions: openSessionStore(database),
    account: async (id) => fromRow(byId.get(id) as LoginRow | undefined),
    accountByName: async (name) => fromRow(byName.get(name) as LoginRow | undefined),
    setPassword: async (account, hash, now) => void setPassword.run(account, hash, now),
    hasAnyPassword: async () => anyPassword.get() !== undefined,
    close: () => database.close(),
  };
}

type LoginRow = { readonly id: number; readonly name: string; readonly hash: string | null };

const fromRow = (row: LoginRow | undefined): LoginAccount | undefined =>
  row && { id: row.id, name: row.name, passwordHash: row.hash ?? undefined };
