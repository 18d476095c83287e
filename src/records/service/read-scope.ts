import { parseNetwork } from "../../core/addresses/network.ts";
import { isObject } from "../../core/is-object.ts";
import type { Scope, SetRule } from "../../core/may.ts";
import { parseName, parseZoneName } from "../../core/names/name.ts";
import { isRecordType } from "../../core/rdata/table.ts";
import type { Fault } from "../../core/result.ts";

/** What a token shall open, with canonical names. Faults are told by their places in the scope. */
export function readScope(scope: Readonly<Record<string, unknown>>, faults: Fault[], most: number): Scope {
  const list = <T>(items: unknown, where: string, kind: Kind<T>) => readList(items, { where, most }, kind, faults);
  const { access, zones, sets, expires, networks } = scope;
  if (access !== "read" && access !== "write") faults.push(badToken("access", "a token may read, or read and write"));
  if (expires !== undefined && !(Number.isSafeInteger(expires) && Number(expires) > 0))
    faults.push(badToken("expires", "the end is a time in milliseconds"));
  return {
    access: access === "write" ? "write" : "read",
    ...(zones !== undefined && { zones: list(zones, "zones", zoneName) }),
    ...(sets !== undefined && { sets: list(sets, "sets", setRule) }),
    ...(expires !== undefined && { expires: Number(expires) }),
    ...(networks !== undefined && { networks: list(networks, "networks", network) }),
  };
}

type Kind<T> = {
  readonly what: string;
  readonly todo: string;
  readonly read: (item: unknown) => T | undefined;
};

function readList<T>(
  list: unknown,
  { where, most }: { readonly where: string; readonly most: number },
  { what, todo, read }: Kind<T>,
  faults: Fault[],
): readonly T[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > most) {
    faults.push(
      badToken(where, Number.isFinite(most) ? `there must be one, and ${most} at the most` : "there must be one"),
    );
    return [];
  }
  return list.flatMap((item: unknown, i) => {
    const value = read(item);
    if (value === undefined) faults.push({ ...badToken(`${where}[${i}]`, `this is no ${what}`), todo });
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
  typeof item === "string" && parseNetwork(item) !== undefined ? item : undefined;

const zoneName: Kind<string> = { what: "name of a zone", todo: "give one such as example.org", read: readZone };
const setRule: Kind<SetRule> = {
  what: "name in a zone with record types",
  todo: "give a name such as home, types such as A, or both",
  read: readRule,
};
const network: Kind<string> = { what: "network", todo: "give one such as 192.0.2.0/24", read: readNetwork };

export const badToken = (where: string, message: string): Fault => ({ code: "bad-token", where, message });

/** What is wrong with a name that somebody wishes for a token. Lists, logs and the history of zones show it. */
export function tokenNameFault(name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "" || name.length > 100)
    return "say in at most 100 characters what the token is for";
  if (/[\p{Control}\p{Surrogate}]/u.test(name)) return "leave out the control characters and what is no Unicode";
  return undefined;
}
