import { createSessionStore } from "../access/session-store-sql.ts";
import type { ConsoleStore, LoginAccount } from "./console-store.ts";
import type { Sql } from "./store-sql.ts";

/** The console's part of a store that others have opened, and close. */
export function createSqlConsole({ text, run }: Sql): ConsoleStore {
  const { db } = text;
  const logins = db
    .selectFrom("accounts")
    .leftJoin("console_passwords", "console_passwords.account", "accounts.id")
    .select(["accounts.id", "accounts.name", "console_passwords.hash"]);
  return {
    sessions: createSessionStore(text, run),
    account: async (id) => fromRow((await run(logins.where("accounts.id", "=", id).compile()))[0]),
    accountByName: async (name) => fromRow((await run(logins.where("accounts.name", "=", name).compile()))[0]),
    setPassword: async (account, hash, changed) => {
      const set = db.insertInto("console_passwords").values({ account, hash, changed });
      const again = set.onConflict((conflict) => conflict.column("account").doUpdateSet({ hash, changed }));
      await run(again.compile());
    },
    hasAnyPassword: async () =>
      (await run(db.selectFrom("console_passwords").select("account").limit(1).compile())).length > 0,
    close: () => undefined,
  };
}

const fromRow = (
  row: { readonly id: number; readonly name: string; readonly hash: string | null } | undefined,
): LoginAccount | undefined => row && { id: row.id, name: row.name, passwordHash: row.hash ?? undefined };
