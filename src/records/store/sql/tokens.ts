import type { Instant } from "../../../core/instant.ts";
import type { Account, NewToken, Token } from "../../model.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";
import type { Sql } from "./tables.ts";

/** Accounts and tokens. What writes is to be run inside a transaction. */
export function createSqlTokens({ text: { db }, run }: Sql) {
  const tokens = db
    .selectFrom("tokens")
    .innerJoin("accounts", "accounts.id", "tokens.account")
    .selectAll("tokens")
    .select("accounts.name as account_name");

  const account = async (name: string): Promise<Account | undefined> => {
    const [row] = await run(db.selectFrom("accounts").select(["id", "name"]).where("name", "=", name).compile());
    return row && { id: row.id, name: row.name };
  };

  return {
    account,

    ensureAccount: async (name: string, now: Instant): Promise<Account> => {
      const added = db.insertInto("accounts").values({ name, created: now });
      await run(added.onConflict((conflict) => conflict.column("name").doNothing()).compile());
      const made = await account(name);
      if (made === undefined) throw new Error("the account just made cannot be read");
      return made;
    },

    addToken: async ({ account: owner, name, hash, scope, created }: NewToken): Promise<Token> => {
      const row = { account: owner, name, hash, scope: JSON.stringify(scope), created };
      await run(db.insertInto("tokens").values(row).compile());
      const [added] = await run<TokenRow>(tokens.where("tokens.hash", "=", hash).compile());
      if (added === undefined) throw new Error("the token just written cannot be read");
      return tokenFromRow(added);
    },

    tokens: async (): Promise<readonly Token[]> =>
      (await run<TokenRow>(tokens.orderBy("tokens.id").compile())).map(tokenFromRow),

    revokeToken: async (id: number, now: Instant): Promise<boolean> => {
      const good = db.updateTable("tokens").set({ revoked: now }).where("id", "=", id).where("revoked", "is", null);
      return (await run(good.returning("id").compile())).length === 1;
    },
  };
}
