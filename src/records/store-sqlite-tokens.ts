import type { DatabaseSync } from "node:sqlite";
import type { Commit } from "./group-commit.ts";
import type { RecordStore } from "./store.ts";
import { type TokenRow, tokenFromRow } from "./store-sqlite-rows.ts";
import { createTurnCache } from "./turn-cache.ts";

type TokenStore = Pick<RecordStore, "ensureAccount" | "addToken" | "tokenByHash" | "tokens" | "revokeToken">;

export function prepareTokens(database: DatabaseSync, commit: Commit): TokenStore {
  const tokenColumns =
    "tokens.*, accounts.name AS account_name FROM tokens JOIN accounts ON accounts.id = tokens.account";
  const insertAccount = database.prepare("INSERT INTO accounts (name, created) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const selectAccount = database.prepare("SELECT id, name FROM accounts WHERE name = ?");
  const insertToken = database.prepare(
    "INSERT INTO tokens (account, name, hash, scope, created) VALUES (?, ?, ?, ?, ?) RETURNING id",
  );
  const selectToken = database.prepare(`SELECT ${tokenColumns} WHERE tokens.id = ?`);
  const selectByHash = database.prepare(`SELECT ${tokenColumns} WHERE tokens.hash = ?`);
  const selectTokens = database.prepare(`SELECT ${tokenColumns} ORDER BY tokens.id`);
  const updateRevoked = database.prepare("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL");

  const byHash = createTurnCache(database, (hash) => {
    const row = selectByHash.get(hash) as TokenRow | undefined;
    return row && tokenFromRow(row);
  });

  return {
    ensureAccount: (name, now) =>
      commit(() => {
        insertAccount.run(name, now);
        const row = selectAccount.get(name) as { id: number; name: string };
        return { id: row.id, name: row.name };
      }),

    addToken: (token) =>
      commit(() => {
        const { account, name, hash, scope, created } = token;
        const added = insertToken.get(account, name, hash, JSON.stringify(scope), created) as { id: number };
        return tokenFromRow(selectToken.get(added.id) as TokenRow);
      }),

    tokenByHash: async (hash) => byHash.get(hash),

    tokens: async () => (selectTokens.all() as TokenRow[]).map(tokenFromRow),

    revokeToken: (id, now) =>
      commit(() => {
        byHash.clear();
        return updateRevoked.run(now, id).changes === 1;
      }),
  };
}
