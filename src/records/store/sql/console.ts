import type { ConsoleStore, LoginAccount } from "../console-store.ts";
import type { Sql } from "./tables.ts";

/** Who may sign in to the console. */
export function createSqlConsole({ text: { db }, run }: Sql): Omit<ConsoleStore, "sessions" | "guesses" | "close"> {
  const logins = db
    .selectFrom("accounts")
    .leftJoin("console_passwords", "console_passwords.account", "accounts.id")
    .select(["accounts.id", "accounts.name", "console_passwords.hash"]);
  return {
    account: async (id) => fromRow((await run(logins.where("accounts.id", "=", id).compile()))[0]),
    accountByName: async (name) => fromRow((await run(logins.where("accounts.name", "=", name).compile()))[0]),
    setPassword: async (account, hash, changed) => {
      const set = db.insertInto("console_passwords").values({ account, hash, changed });
      const again = set.onConflict((conflict) => conflict.column("account").doUpdateSet({ hash, changed }));
      await run(again.compile());
    },
    renewHash: async (account, { from, to }) => {
      const same = db.updateTable("console_passwords").where("account", "=", account).where("hash", "=", from);
      await run(same.set({ hash: to }).compile());
    },
    hasAnyPassword: async () =>
      (await run(db.selectFrom("console_passwords").select("account").limit(1).compile())).length > 0,
  };
}

const fromRow = (
  row: { readonly id: number; readonly name: string; readonly hash: string | null } | undefined,
): LoginAccount | undefined => row && { id: row.id, name: row.name, passwordHash: row.hash ?? undefined };
