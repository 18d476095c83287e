import { createPasskeyStore } from "../../../access/passkeys/passkey-store.ts";
import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { ConsoleStore, LoginAccount } from "../console-store.ts";

/** Accounts and their passwords, for signing in to the console. */
export function createSqlConsole({ read, write }: Sql): Omit<ConsoleStore, "sessions" | "guesses" | "close"> {
  const logins = sql`SELECT accounts.id, accounts.name, hash FROM accounts
    LEFT JOIN console_passwords ON console_passwords.account = accounts.id`;
  return {
    passkeys: createPasskeyStore({ read, write }),
    account: async (id) => fromRow((await read<LoginRow>(sql`${logins} WHERE accounts.id = ${id}`))[0]),
    accountByName: async (name) => fromRow((await read<LoginRow>(sql`${logins} WHERE accounts.name = ${name}`))[0]),
    setPassword: async (account, hash, changed) => {
      await write(
        sql`INSERT INTO console_passwords (account, hash, changed) VALUES (${account}, ${hash}, ${changed})
            ON CONFLICT (account) DO UPDATE SET hash = excluded.hash, changed = excluded.changed`,
      );
    },
    renewHash: async (account, { from, to }) => {
      await write(sql`UPDATE console_passwords SET hash = ${to} WHERE account = ${account} AND hash = ${from}`);
    },
    hasAnyPassword: async () => (await read(sql`SELECT account FROM console_passwords LIMIT 1`)).length > 0,
  };
}

type LoginRow = { readonly id: number; readonly name: string; readonly hash: string | null };

const fromRow = (row: LoginRow | undefined): LoginAccount | undefined =>
  row && { id: row.id, name: row.name, passwordHash: row.hash ?? undefined };
