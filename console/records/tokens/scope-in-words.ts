import type { Scope, SetRule } from "../../../src/core/may.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";

/** "may write A and AAAA of home.example.org, until 1 March 2027" */
export function scopeInWords(scope: Scope): string {
  const { access, expires, networks } = scope;
  const doing = access === "read" ? "may read" : "may write";
  const end = expires === undefined ? "" : `, until ${dayOf(expires)}`;
  const from = networks === undefined ? "" : `, only from ${listed(networks)}`;
  return `${doing} ${whatInWords(scope)}${from}${end}`;
}

function whatInWords({ access, zones, sets }: Scope): string {
  if (sets === undefined) {
    if (zones !== undefined) return `all of ${named(zones)}`;
    return access === "read" ? "all zones" : "all zones and create new ones";
  }
  return listed(sets.map((rule) => ruleInWords(rule, zones)));
}

function ruleInWords({ owner, types }: SetRule, zones: readonly string[] | undefined): string {
  const what = types === undefined ? "all records" : listed(types);
  if (owner === undefined) return zones === undefined ? `${what} in all zones` : `${what} in ${named(zones)}`;
  const where =
    zones === undefined
      ? `${nameToUnicode(owner)} in every zone`
      : named(zones.map((zone) => absoluteName(owner, zone)));
  return `${what} of ${where}`;
}

const named = (names: readonly string[]): string => listed(names.map(nameToUnicode));

const listed = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? "nothing") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;

const dayOf = (at: number): string => new Date(at).toLocaleDateString("en-GB", { dateStyle: "long" });
