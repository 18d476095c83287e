import { createToken, hashSecret } from "../access/secret.ts";
import type { MadeToken, TokenEntry, TokenWish } from "../contract/console.ts";
import { parseAddress } from "../core/address.ts";
import type { Instant } from "../core/instant.ts";
import type { Scope, SetRule } from "../core/may.ts";
import { parseName, parseZoneName } from "../core/name.ts";
import { parseNetwork } from "../core/network.ts";
import { isRecordType } from "../core/rdata/table.ts";
import { type Fault, fail, ok, type Result } from "../core/result.ts";
import type { RecordStore, Token } from "./store.ts";

const most = 100;

/** A token as somebody wants it, or everything that is wrong with the wish. */
export function readTokenWish(body: unknown): Result<TokenWish> {
  if (!isObject(body) || !isObject(body.scope)) return fail(bad("scope", "a token needs a name and a scope"));
  const { name } = body;
  const faults: Fault[] = [];
  if (typeof name !== "string" || name.trim() === "" || name.length > 100)
    faults.push(bad("name", "say in at most 100 characters what the token is for"));
  const scope = readScope(body.scope, faults);
  return faults.length > 0 || typeof name !== "string" ? fail(...faults) : ok({ name: name.trim(), scope });
}

function readScope(scope: Readonly<Record<string, unknown>>, faults: Fault[]): Scope {
  const { access, zones, sets, expires, networks } = scope;
  if (access !== "read" && access !== "write") faults.push(bad("access", "a token may read, or read and write"));
  if (expires !== undefined && !(Number.isSafeInteger(expires) && Number(expires) > 0))
    faults.push(bad("expires", "the end is a time in milliseconds"));
  return {
    access: access === "write" ? "write" : "read",
    ...(zones !== undefined && { zones: readList(zones, "zones", readZone, faults) }),
    ...(sets !== undefined && { sets: readList(sets, "sets", readRule, faults) }),
    ...(expires !== undefined && { expires: Number(expires) }),
    ...(networks !== undefined && { networks: readList(networks, "networks", readNetwork, faults) }),
  };
}

function readList<T>(
  list: unknown,
  where: string,
  read: (item: unknown) => T | undefined,
  faults: Fault[],
): readonly T[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > most) {
    faults.push(bad(where, `there are 1 to ${most} of them`));
    return [];
  }
  return list.flatMap((item: unknown, i) => {
    const value = read(item);
    if (value === undefined) faults.push(bad(`${where}[${i}]`, "this is not one"));
    return value === undefined ? [] : [value];
  });
}

function readZone(item: unknown): string | undefined {
  const name = typeof item === "string" ? parseZoneName(item) : undefined;
  return name?.ok ? name.value : undefined;
}

function readRule(item: unknown): SetRule | undefined {
  if (!isObject(item)) return undefined;
  const { owner, types } = item;
  const parsed = typeof owner === "string" && owner !== "@" ? parseName(owner) : undefined;
  if (owner !== undefined && owner !== "@" && !parsed?.ok) return undefined;
  const known = Array.isArray(types)
    ? types.filter((type) => typeof type === "string").filter(isRecordType)
    : undefined;
  if (types !== undefined && (known === undefined || known.length === 0 || known.length !== (types as []).length))
    return undefined;
  return { ...(owner !== undefined && { owner: parsed?.ok ? parsed.value : "@" }), ...(known && { types: known }) };
}

const readNetwork = (item: unknown): string | undefined =>
  typeof item === "string" && (parseNetwork(item) !== undefined || parseAddress(item) !== undefined) ? item : undefined;

/** Tokens as one account sees its own. */
export function consoleTokens(store: RecordStore, now: () => Instant) {
  return {
    list: async (account: number): Promise<readonly TokenEntry[]> =>
      (await store.tokens()).filter((token) => token.account === account).map(toEntry),

    make: async (account: number, { name, scope }: TokenWish): Promise<MadeToken> => {
      const secret = createToken();
      const token = await store.addToken({ account, name, hash: hashSecret(secret), scope, created: now() });
      return { token: toEntry(token), secret };
    },

    revoke: async (account: number, id: number): Promise<boolean> => {
      const own = (await store.tokens()).some((token) => token.id === id && token.account === account);
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const bad = (where: string, message: string): Fault => ({ code: "bad-token", where, message });
