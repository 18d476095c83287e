import type { DatabaseSync } from "node:sqlite";
import type { Quotas } from "../../../core/quotas.ts";
import { sqliteSql } from "../../../lib/sqlite/run-sql.ts";
import { sql } from "../../../lib/sqlite/sql.ts";
import type { Token } from "../../model.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";
import { createSqlTokens } from "../sql/tokens.ts";
import type { TokenStore } from "../token-store.ts";
import { type Counted, createUseCounter, withUses } from "../use-counter.ts";
import type { OtherCommits } from "./other-commits.ts";
import type { Commit } from "./write-queue.ts";

type TokenOptions = {
  readonly database: DatabaseSync;
  readonly commit: Commit;
  readonly otherCommits: OtherCommits;
  /** A token was revoked. */
  readonly accessChanged: () => void;
  readonly quotas: Quotas | undefined;
};

/** `flushUses` adds the counted uses to the next transaction. */
export function prepareTokens({ database, commit, otherCommits, accessChanged, quotas }: TokenOptions): {
  readonly store: TokenStore;
  readonly flushUses: () => void;
} {
  const statements = sqliteSql(database, commit);
  const { write } = statements;
  const sqlTokens = createSqlTokens(statements, quotas);
  const selectByHash = database.prepare(
    "SELECT tokens.*, accounts.name AS account_name FROM tokens JOIN accounts ON accounts.id = tokens.account " +
      "WHERE tokens.hash = ?",
  );
  const cachedTokens = new Map<string, Token>();
  otherCommits.onCommit(() => cachedTokens.clear());
  const byHash = (hash: string): Token | undefined => {
    otherCommits.check();
    const cachedToken = cachedTokens.get(hash);
    if (cachedToken !== undefined) return cachedToken;
    const row = selectByHash.get(hash) as TokenRow | undefined;
    if (row === undefined) return undefined;
    // Wrong tokens are not cached: a client could fill the memory with made-up ones.
    if (cachedTokens.size >= mostKept) cachedTokens.clear();
    const token = tokenFromRow(row);
    cachedTokens.set(hash, token);
    return token;
  };

  const writeUses = (counted: Counted) =>
    Promise.all(
      [...counted].map(([id, { count, last }]) =>
        write(sql`UPDATE tokens SET uses = uses + ${count}, last_used = ${last} WHERE id = ${id}`),
      ),
    );
  // A lost count is harmless; writes that matter report their own errors.
  const uses = createUseCounter((counted) => void writeUses(counted).catch(() => undefined));

  const store: TokenStore = {
    ...sqlTokens,
    noteUse: uses.note,
    tokenByHash: byHash,
    tokens: async (of) => (await sqlTokens.tokens(of)).map((token) => withUses(token, uses.get(token.id))),
    revokeToken: async (id, now, account) => {
      const revoked = await sqlTokens.revokeToken(id, now, account);
      cachedTokens.clear();
      accessChanged();
      return revoked;
    },
  };
  return { store, flushUses: uses.flush };
}

const mostKept = 10_000;
