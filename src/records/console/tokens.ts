import { createToken, hashSecret } from "../../access/secret.ts";
import {
  type MadeToken,
  type TokenEntry,
  type TokenInput,
  type TokenPage,
  tokensPerPage,
} from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import { isObject } from "../../core/is-object.ts";
import { writesAllZones } from "../../core/may.ts";
import { badToken, readScope, tokenNameFault } from "../../core/read-scope.ts";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import { OverQuota, type Token } from "../model.ts";
import type { RecordStore } from "../store/port.ts";

const most = 100;

/** A requested token, or all faults in the request. */
export function readTokenInput(body: unknown): Result<TokenInput> {
  if (!isObject(body) || !isObject(body.scope)) return fail(badToken("scope", "a token needs a name and a scope"));
  const { name } = body;
  const faults: Fault[] = [];
  const wrong = tokenNameFault(name);
  if (wrong !== undefined) faults.push(badToken("name", wrong));
  const scope = readScope(body.scope, faults, most);
  if (faults.length === 0 && writesAllZones(scope) && body.allZones !== true)
    faults.push({ ...badToken("scope", "the token may write every zone, and create and delete zones"), todo: limitIt });
  return faults.length > 0 || typeof name !== "string" ? fail(...faults) : ok({ name: name.trim(), scope });
}

const limitIt = "limit it to zones, names or types, or confirm it with allZones: true";

type TokenListQuery = { readonly page: number; readonly all: boolean };

/** `?page=2`, and `all` for revoked ones too. */
export const readTokenListQuery = (query: URLSearchParams): TokenListQuery => ({
  page: Number(/^[1-9]\d{0,5}$/.exec(query.get("page") ?? "")?.[0] ?? 1),
  all: query.has("all"),
});

/** The tokens of one account. */
export function consoleTokens(store: RecordStore, now: () => Instant) {
  return {
    /** `page` counts from 1. */
    list: async (account: number, { page, all }: TokenListQuery): Promise<TokenPage> => {
      const { unrevoked, revoked } = await store.tokenCounts(account);
      const pages = Math.max(1, Math.ceil((all ? unrevoked + revoked : unrevoked) / tokensPerPage));
      const which = { skip: (Math.min(page, pages) - 1) * tokensPerPage, latest: tokensPerPage, unrevoked: !all };
      const tokens = (await store.tokens({ account, ...which })).map(toEntry).toReversed();
      return { tokens, pages, revoked };
    },

    make: async (account: number, { name, scope }: TokenInput): Promise<MadeToken | { readonly fault: string }> => {
      const secret = createToken();
      try {
        const token = await store.addToken({ account, name, hash: hashSecret(secret), scope, created: now() });
        return { token: toEntry(token), secret };
      } catch (error) {
        if (error instanceof OverQuota) return { fault: error.message };
        throw error;
      }
    },

    revoke: (account: number, id: number): Promise<boolean> => store.revokeToken(id, now(), account),
  };
}

const toEntry = ({ id, name, scope, created, revoked, lastUsed, uses }: Token): TokenEntry => ({
  id,
  name,
  scope,
  created: new Date(created).toISOString(),
  revoked: revoked === undefined ? null : new Date(revoked).toISOString(),
  lastUsed: lastUsed === undefined ? null : new Date(lastUsed).toISOString(),
  uses,
});
