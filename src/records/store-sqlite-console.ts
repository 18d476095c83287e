import type { SessionStore } from "../access/session.ts";
import { openSessionStore, sessionTables } from "../access/session-store-sqlite.ts";
import type { Instant } from "../core/instant.ts";
import { openSqlite } from "../process/open-sqlite.ts";
import type { Account } from "./store.ts";

/** Who may sign in to the console: each account has one password, once somebody has set it. */
export type ConsoleStore = {
  readonly sessions: SessionStore;
  readonly account: (id: number) => Promise<LoginAccount | undefined>;
  readonly accountByName: (name: string) => Promise<LoginAccount | undefined>;
  readonly setPassword: (account: number, hash: string, now: Instant) => Promise<void>;
  readonly hasAnyPassword: () => Promise<boolean>;
  readonly close: () => void;
};

export type LoginAccount = Account & { readonly passwordHash: string | undefined };

/** A step of the record service's schema. */
export const consoleTables = `
  ${sessionTables}
  CREATE TABLE console_passwords (
    account INTEGER PRIMARY KEY REFERENCES accounts,
    hash TEXT NOT NULL,
    changed INTEGER NOT NULL
  ) STRICT;
`;

/** The database file of the record service, over a connection of its own: the file must have been opened as a store before. */
export function openConsoleStore(path: string, migrations: readonly string[]): ConsoleStore {
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
