import type { DatabaseSync } from "node:sqlite";
import type { Account, Token } from "../../model.ts";
import type { RecordStore } from "../port.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";
import { type Counted, createUseCounter, withUses } from "../use-counter.ts";
import type { ForeignCommits } from "./foreign-commits.ts";
import type { Commit } from "./group-commit.ts";

type TokenStore = Pick<
  RecordStore,
  "account" | "ensureAccount" | "addToken" | "tokenByHash" | "tokens" | "revokeToken" | "noteUse"
>;

type TokenOptions = {
  readonly database: DatabaseSync;
  readonly commit: Commit;
  readonly foreign: ForeignCommits;
  /** All tokens, with the uses that are written. */
  readonly list: RecordStore["tokens"];
  /** A token was revoked. */
  readonly accessChanged: () => void;
};

/** `flushUses` hands what was counted to the next transaction. */
export function prepareTokens({ database, commit, foreign, list, accessChanged }: TokenOptions): {
  readonly store: TokenStore;
  readonly flushUses: () => void;
} {
  const tokenColumns =
    "tokens.*, accounts.name AS account_name FROM tokens JOIN accounts ON accounts.id = tokens.account";
  const insertAccount = database.prepare("INSERT INTO accounts (name, created) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const selectAccount = database.prepare("SELECT id, name FROM accounts WHERE name = ?");
  const insertToken = database.prepare(
    "INSERT INTO tokens (account, name, hash, scope, created) VALUES (?, ?, ?, ?, ?) RETURNING id",
  );
  const selectToken = database.prepare(`SELECT ${tokenColumns} WHERE tokens.id = ?`);
  const selectByHash = database.prepare(`SELECT ${tokenColumns} WHERE tokens.hash = ?`);
  const updateRevoked = database.prepare("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL");

  const known = new Map<string, Token>();
  foreign.onCommit(() => known.clear());
  const byHash = (hash: string): Token | undefined => {
    foreign.check();
    const kept = known.get(hash);
    if (kept !== undefined) return kept;
    const row = selectByHash.get(hash) as TokenRow | undefined;
    if (row === undefined) return undefined;
    // Wrong ones are not kept: anyone can make up as many as memory holds.
    if (known.size >= mostKept) known.clear();
    const token = tokenFromRow(row);
    known.set(hash, token);
    return token;
  };

  const updateUses = database.prepare("UPDATE tokens SET uses = uses + ?, last_used = ? WHERE id = ?");
  const writeUses = (counted: Counted) =>
    commit(() => {
      for (const [id, { count, last }] of counted) updateUses.run(count, last, id);
    });
  // A count that could not be written harms nobody; writes that matter fail by themselves.
  const uses = createUseCounter((counted) => void writeUses(counted).catch(() => undefined));

  const accountOf = (name: string): Account | undefined => {
    const row = selectAccount.get(name) as Account | undefined;
    return row && { id: row.id, name: row.name };
  };

  const store: TokenStore = {
    noteUse: uses.note,

    account: async (name) => accountOf(name),

    ensureAccount: (name, now) =>
      commit(() => {
        insertAccount.run(name, now);
        return accountOf(name) as Account;
      }),

    addToken: (token) =>
      commit(() => {
        const { account, name, hash, scope, created } = token;
        const added = insertToken.get(account, name, hash, JSON.stringify(scope), created) as { id: number };
        return tokenFromRow(selectToken.get(added.id) as TokenRow);
      }),

    tokenByHash: async (hash) => byHash(hash),

    tokens: async () => (await list()).map((token) => withUses(token, uses.get(token.id))),

    revokeToken: async (id, now) => {
      const revoked = await commit(() => {
        known.clear();
        return updateRevoked.run(now, id).changes === 1;
      });
      accessChanged();
      return revoked;
    },
  };
  return { store, flushUses: uses.flush };
}

const mostKept = 10_000;
