import { createToken } from "../../../access/secret.ts";
import type { Instant } from "../../../core/instant.ts";
import { overQuotaText, type Quotas } from "../../../core/quotas.ts";
import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import { type Account, type NewToken, OverQuota, type Token } from "../../model.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";
import type { TokenCounts, TokenQuery } from "../token-store.ts";

/** Accounts, their tokens, and the secrets of the database. */
export const createSqlTokens = (database: Sql, quotas?: Quotas) => ({
  ...accountTokens(database, quotas),
  ...secrets(database),
});

/** How long tokens that have ended are listed, and how many of them. */
const endedKept = { time: 90 * 24 * 3_600_000, most: 1_000 };

function accountTokens(database: Sql, quotas: Quotas | undefined) {
  const { read, write } = database;
  const account = async (name: string): Promise<Account | undefined> => {
    const [row] = await read<Account>(sql`SELECT id, name FROM accounts WHERE name = ${name}`);
    return row && { id: row.id, name: row.name };
  };

  return {
    account,

    ensureAccount: async (name: string, now: Instant): Promise<Account> => {
      // The update changes nothing, but without it an existing row would not be returned.
      const [row] = await write<Account>(
        sql`INSERT INTO accounts (name, created) VALUES (${name}, ${now})
            ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id, name`,
      );
      const { id } = there(row);
      return { id, name };
    },

    addToken: createAddToken(database, quotas),

    tokens: async (of?: TokenQuery): Promise<readonly Token[]> => {
      const all = sql`SELECT tokens.*, accounts.name AS account_name FROM tokens
        JOIN accounts ON accounts.id = tokens.account`;
      // Sorted by an expression, because PostgreSQL would otherwise walk through the tokens of all accounts in the
      // order of the primary key.
      const order = sql`ORDER BY tokens.id + 0 DESC LIMIT ${of?.latest ?? most} OFFSET ${of?.skip ?? 0}`;
      const which = of?.unrevoked ? sql`AND tokens.revoked IS NULL` : sql``;
      const its = of && sql`${all} WHERE tokens.account = ${of.account} ${which} ${order}`;
      return (await read<TokenRow>(its ?? sql`${all} ORDER BY tokens.id DESC`)).map(tokenFromRow).toReversed();
    },

    tokenCounts: async (owner: number): Promise<TokenCounts> => {
      const [row] = await read<{ readonly listed: number; readonly revoked: number }>(
        sql`SELECT count(*) AS listed, count(revoked) AS revoked FROM tokens WHERE account = ${owner}`,
      );
      const [listed, revoked] = [Number(row?.listed ?? 0), Number(row?.revoked ?? 0)];
      return { unrevoked: listed - revoked, revoked };
    },

    revokeToken: async (id: number, now: Instant, owner?: number): Promise<boolean> => {
      const theirs = owner === undefined ? sql`` : sql`AND account = ${owner}`;
      const good = sql`UPDATE tokens SET revoked = ${now} WHERE id = ${id} AND revoked IS NULL ${theirs}`;
      return (await write(sql`${good} RETURNING id`)).length === 1;
    },
  };
}

function createAddToken({ dialect: { asJson }, write }: Sql, quotas: Quotas | undefined) {
  const endedAt = sql`coalesce(revoked, cast(${asJson(sql`scope`)} ->> 'expires' as numeric))`;
  return async ({ account: owner, name, hash, scope, created }: NewToken): Promise<Token> => {
    // In PostgreSQL, others that add a token to this account wait here, so that what is counted below stays true.
    if (quotas) await write(sql`UPDATE accounts SET name = name WHERE id = ${owner}`);
    const ended = sql`account = ${owner} AND ${endedAt} <= ${created}`;
    await write(
      sql`DELETE FROM tokens WHERE ${ended} AND (${endedAt} < ${created - endedKept.time} OR id IN
          (SELECT id FROM tokens WHERE ${ended} ORDER BY ${endedAt} DESC, id DESC LIMIT ${most} OFFSET ${endedKept.most}))`,
    );
    const inForce = sql`SELECT count(*) FROM tokens WHERE account = ${owner}
      AND (${endedAt} IS NULL OR ${endedAt} > ${created})`;
    const [added] = await write<TokenRow>(
      sql`INSERT INTO tokens (account, name, hash, scope, created)
          SELECT cast(${owner} as bigint), cast(${name} as text), cast(${hash} as text),
            cast(${JSON.stringify(scope)} as text), cast(${created} as bigint)
          WHERE (${inForce}) < ${quotas?.tokens ?? most}
          RETURNING *, (SELECT accounts.name FROM accounts WHERE accounts.id = tokens.account) AS account_name`,
    );
    if (added === undefined && quotas) throw new OverQuota(overQuotaText("tokens", quotas.tokens));
    return tokenFromRow(there(added));
  };
}

function secrets({ read, write }: Sql) {
  const findSecret = async (name: string): Promise<string | undefined> =>
    (await read<{ readonly value: string }>(sql`SELECT value FROM secrets WHERE name = ${name}`))[0]?.value;
  return {
    findSecret,
    replaceSecret: async (name: string, value: string): Promise<void> => {
      await write(sql`INSERT INTO secrets (name, value) VALUES (${name}, ${value})
                      ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
    },

    /** The first caller writes it; all others read what that one wrote. */
    secret: async (name: string): Promise<string> => {
      const storedSecret = await findSecret(name);
      if (storedSecret !== undefined) return storedSecret;
      const value = createToken(43);
      await write(sql`INSERT INTO secrets (name, value) VALUES (${name}, ${value}) ON CONFLICT DO NOTHING`);
      return there(await findSecret(name));
    },
  };
}

/** No limit. */
const most = Number.MAX_SAFE_INTEGER;

function there<T>(written: T | undefined): T {
  if (written === undefined) throw new Error("a row that was just written cannot be read");
  return written;
}
