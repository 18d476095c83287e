import type { Postgres } from "../../../lib/postgres/open.ts";
import type { Statement } from "../../../lib/postgres/statement.ts";
import type { Sql } from "../../../lib/sqlite/sql.ts";
import type { Token } from "../../model.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";
import { createSqlTokens, type TokenStore } from "../sql/tokens.ts";
import { type Counted, createUseCounter, withUses } from "../use-counter.ts";
import { tokensChannel } from "./feed.ts";
import { joinReads } from "./joined-reads.ts";
import { inTransaction, postgresSql } from "./sql.ts";

const mostKept = 10_000;
const tell: Statement = { text: `SELECT pg_notify('${tokensChannel}', '')` };

/** Writes that grant or revoke access: every node is notified with the commit, and this one immediately. */
export type WriteAccess = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

export const createWriteAccess =
  (postgres: Postgres, changed: () => void): WriteAccess =>
  async (work) => {
    const result = await inTransaction(postgres, work, tell);
    changed();
    return result;
  };

/** Tokens are cached while `isUp` says that notifications arrive, until `forget` is called. */
export function createPostgresTokens(postgres: Postgres, writeAccess: WriteAccess, isUp: () => boolean) {
  const cold = createSqlTokens(postgresSql(postgres));
  const known = new Map<string, Token>();
  /** Incremented when a read in progress may return outdated data. */
  let generation = 0;
  const forget = (): void => {
    generation += 1;
    known.clear();
  };

  const read = joinReads<string, Token | undefined>({
    load: async (hashes) => {
      const before = generation;
      const { rows } = await postgres.read({
        name: "tokens",
        text:
          "SELECT tokens.*, accounts.name AS account_name FROM tokens JOIN accounts ON accounts.id = tokens.account " +
          "WHERE tokens.hash = ANY($1)",
        values: [[...new Set(hashes)]],
      });
      const found = new Map((rows as TokenRow[]).map((row) => [row.hash, tokenFromRow(row)]));
      if (known.size >= mostKept) known.clear();
      // Wrong tokens are not cached: a client could fill the memory with made-up ones.
      if (before === generation && isUp()) for (const [hash, token] of found) known.set(hash, token);
      return hashes.map((hash) => found.get(hash));
    },
  });

  const writeUses = (counted: Counted): Promise<unknown> =>
    postgres.transact(async () => {
      const all = [...counted];
      const last = {
        name: "uses",
        text:
          "UPDATE tokens SET uses = uses + n.count, last_used = greatest(last_used, n.last) " +
          "FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n (id, count, last) WHERE tokens.id = n.id",
        values: [all.map(([id]) => id), all.map(([, use]) => use.count), all.map(([, use]) => use.last)],
      };
      return { result: undefined, last };
    });
  let writing: Promise<unknown> = Promise.resolve();
  const uses = createUseCounter((counted) => {
    // A lost count is harmless; writes that matter report their own errors.
    writing = Promise.allSettled([writing, writeUses(counted)]);
  });

  const store: TokenStore = {
    ...cold,
    noteUse: uses.note,
    addToken: (token) => writeAccess((sql) => createSqlTokens(sql).addToken(token)),
    tokenByHash: (hash) => {
      const token = isUp() ? known.get(hash) : undefined;
      return token ?? read(hash);
    },
    tokens: async (of) => (await cold.tokens(of)).map((token) => withUses(token, uses.get(token.id))),
    revokeToken: (id, now) => writeAccess((sql) => createSqlTokens(sql).revokeToken(id, now)),
  };
  return {
    store,
    forget,
    /** Writes the counted uses. */
    flushUses: async (): Promise<void> => {
      uses.flush();
      await writing;
    },
  };
}
