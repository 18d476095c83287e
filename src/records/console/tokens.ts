import { createToken, hashSecret } from "../../access/secret.ts";
import type { MadeToken, TokenEntry, TokenInput } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import { isObject } from "../../core/is-object.ts";
import { writesAllZones } from "../../core/may.ts";
import { badToken, readScope, tokenNameFault } from "../../core/read-scope.ts";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import type { Token } from "../model.ts";
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

/** The tokens of one account. */
export function consoleTokens(store: RecordStore, now: () => Instant) {
  return {
    list: async (account: number): Promise<readonly TokenEntry[]> => (await store.tokens({ account })).map(toEntry),

    make: async (account: number, { name, scope }: TokenInput): Promise<MadeToken> => {
      const secret = createToken();
      const token = await store.addToken({ account, name, hash: hashSecret(secret), scope, created: now() });
      return { token: toEntry(token), secret };
    },

    revoke: async (account: number, id: number): Promise<boolean> => {
      const own = (await store.tokens({ account })).some((token) => token.id === id);
      return own && (await store.revokeToken(id, now()));
    },
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
