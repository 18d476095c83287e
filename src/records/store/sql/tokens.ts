import { createToken } from "../../../access/secret.ts";
import type { Instant } from "../../../core/instant.ts";
import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { Account, NewToken, Token } from "../../model.ts";
import type { RecordStore } from "../port.ts";
import { type TokenRow, tokenFromRow } from "../rows.ts";

/** The part of a store that is about accounts, tokens and secrets. */
export type TokenStore = Pick<
  RecordStore,
  | "account"
  | "ensureAccount"
  | "addToken"
  | "tokenByHash"
  | "tokens"
  | "revokeToken"
  | "secret"
  | "findSecret"
  | "replaceSecret"
  | "noteUse"
>;

/** Accounts, their tokens, and the secrets of the database. */
export const createSqlTokens = (database: Sql) => ({ ...accountTokens(database), ...secrets(database) });

function accountTokens({ read, write }: Sql) {
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

    addToken: async ({ account: owner, name, hash, scope, created }: NewToken): Promise<Token> => {
      const [added] = await write<TokenRow>(
        sql`INSERT INTO tokens (account, name, hash, scope, created)
            VALUES (${owner}, ${name}, ${hash}, ${JSON.stringify(scope)}, ${created})
            RETURNING *, (SELECT accounts.name FROM accounts WHERE accounts.id = tokens.account) AS account_name`,
      );
      return tokenFromRow(there(added));
    },

    tokens: async (of?: { readonly account: number; readonly latest?: number }): Promise<readonly Token[]> => {
      const all = sql`SELECT tokens.*, accounts.name AS account_name FROM tokens
        JOIN accounts ON accounts.id = tokens.account`;
      // Sorted by an expression, because PostgreSQL would otherwise walk through the tokens of all accounts in the
      // order of the primary key.
      const order = sql`ORDER BY tokens.id + 0 DESC LIMIT ${of?.latest ?? most}`;
      const its = of && sql`${all} WHERE tokens.account = ${of.account} ${order}`;
      return (await read<TokenRow>(its ?? sql`${all} ORDER BY tokens.id DESC`)).map(tokenFromRow).toReversed();
    },

    revokeToken: async (id: number, now: Instant): Promise<boolean> => {
      const good = sql`UPDATE tokens SET revoked = ${now} WHERE id = ${id} AND revoked IS NULL RETURNING id`;
      return (await write(good)).length === 1;
    },
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
