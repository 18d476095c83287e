import { parseNetwork } from "./addresses/network.ts";
import { isObject } from "./is-object.ts";
import type { Scope, SetRule } from "./may.ts";
import { parseName, parseZoneName } from "./names/name.ts";
import { isRecordType } from "./rdata/table.ts";
import type { Fault } from "./result.ts";

/** The scope of a token, with canonical names. Faults have their places in the scope. */
export function readScope(scope: Readonly<Record<string, unknown>>, faults: Fault[], most: number): Scope {
  const list = <T>(items: unknown, where: string, kind: Kind<T>) => readList(items, { where, most }, kind, faults);
  const { access, zones, sets, expires, networks } = scope;
  if (access !== "read" && access !== "write") faults.push(badToken("access", "it must be read or write"));
  if (expires !== undefined && !(Number.isSafeInteger(expires) && Number(expires) > 0))
    faults.push(badToken("expires", "it must be a time in milliseconds since 1970"));
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
      badToken(where, Number.isFinite(most) ? `it must have 1 to ${most} entries` : "it must have at least one entry"),
    );
    return [];
  }
  return list.flatMap((item: unknown, i) => {
    const value = read(item);
    if (value === undefined) faults.push({ ...badToken(`${where}[${i}]`, `this is not a ${what}`), todo });
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
  const recordTypes = Array.isArray(types)
    ? types.filter((type) => typeof type === "string").filter(isRecordType)
    : undefined;
  if (
    types !== undefined &&
    (recordTypes === undefined || recordTypes.length === 0 || recordTypes.length !== (types as []).length)
  )
    return undefined;
  return {
    ...(owner !== undefined && { owner: parsed?.ok ? parsed.value : "@" }),
    ...(recordTypes && { types: recordTypes }),
  };
}

const readNetwork = (item: unknown): string | undefined =>
  typeof item === "string" && parseNetwork(item) !== undefined ? item : undefined;

const zoneName: Kind<string> = { what: "zone name", todo: "use a name such as example.org", read: readZone };
const setRule: Kind<SetRule> = {
  what: "rule for record sets",
  todo: "use a name such as home, types such as A, or both",
  read: readRule,
};
const network: Kind<string> = { what: "network", todo: "use one such as 192.0.2.0/24", read: readNetwork };

export const badToken = (where: string, message: string): Fault => ({ code: "bad-token", where, message });

/** What is wrong with the name of a token. It is shown in lists, logs and the history of zones. */
export function tokenNameFault(name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "" || name.length > 100)
    return "describe in at most 100 characters what the token is for";
  if (/[\p{Control}\p{Surrogate}]/u.test(name)) return "remove control characters and invalid Unicode";
  return undefined;
}
