import type { Quotas } from "../../../core/quotas.ts";
import type { Postgres } from "../../../lib/postgres/open.ts";
import type { Statement } from "../../../lib/postgres/statement.ts";
import type { Sql } from "../../../lib/sqlite/sql.ts";
import type { Token } from "../../model.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";
import { createSqlTokens } from "../sql/tokens.ts";
import type { TokenStore } from "../token-store.ts";
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
export class PostgresTokens {
  readonly store: TokenStore;
  readonly #postgres: Postgres;
  readonly #isUp: () => boolean;
  readonly #cached = new Map<string, Token>();
  /** Incremented when a read in progress may return outdated data. */
  #generation = 0;
  readonly #read = joinReads<string, Token | undefined>({ load: (hashes, since) => this.#load(hashes, since) });
  #writing: Promise<unknown> = Promise.resolve();
  readonly #uses = createUseCounter((counted) => {
    // A lost count is harmless; writes that matter report their own errors.
    this.#writing = Promise.allSettled([this.#writing, this.#writeUses(counted)]);
  });

  constructor(postgres: Postgres, writeAccess: WriteAccess, isUp: () => boolean, quotas?: Quotas) {
    this.#postgres = postgres;
    this.#isUp = isUp;
    const cold = createSqlTokens(postgresSql(postgres));
    this.store = {
      ...cold,
      noteUse: this.#uses.note,
      addToken: (token) => writeAccess((sql) => createSqlTokens(sql, quotas).addToken(token)),
      tokenByHash: (hash) => (isUp() ? this.#cached.get(hash) : undefined) ?? this.#read(hash),
      tokens: async (of) => (await cold.tokens(of)).map((token) => withUses(token, this.#uses.get(token.id))),
      revokeToken: (...which) => writeAccess((sql) => createSqlTokens(sql).revokeToken(...which)),
    };
  }

  readonly forget = (): void => {
    this.#generation += 1;
    this.#cached.clear();
  };

  /** Writes the counted uses. */
  readonly flushUses = async (): Promise<void> => {
    this.#uses.flush();
    await this.#writing;
  };

  async #load(hashes: readonly string[], since: number): Promise<readonly (Token | undefined)[]> {
    const before = this.#generation;
    const text =
      "SELECT tokens.*, accounts.name AS account_name FROM tokens JOIN accounts ON accounts.id = tokens.account " +
      "WHERE tokens.hash = ANY($1)";
    const { rows } = await this.#postgres.read({ name: "tokens", text, values: [[...new Set(hashes)]] }, since);
    const tokensByHash = new Map((rows as TokenRow[]).map((row) => [row.hash, tokenFromRow(row)]));
    if (this.#cached.size >= mostKept) this.#cached.clear();
    // Wrong tokens are not cached: a client could fill the memory with made-up ones.
    if (before === this.#generation && this.#isUp())
      for (const [hash, token] of tokensByHash) this.#cached.set(hash, token);
    return hashes.map((hash) => tokensByHash.get(hash));
  }

  #writeUses(counted: Counted): Promise<unknown> {
    return this.#postgres.transact(async () => {
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
  }
}
