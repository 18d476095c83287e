import type { Rrset } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { readableValue } from "../../../src/core/rdata/rdata.ts";
import { typeName } from "../../../src/core/rdata/table.ts";
import { nameHolds, searchedText } from "./shown-name.ts";
import { shownValue } from "./shown-value.ts";

const shown = (name: string): string => (name.includes("xn--") ? nameToUnicode(name) : name);

export type SortBy = "name" | "type" | "ttl" | "value";

/** Sets that contain the text anywhere, and have the type if one is given. */
export function filterSets(sets: readonly Rrset[], text: string, type: string): readonly Rrset[] {
  const wanted = searchedText(text);
  if (wanted === "" && type === "") return sets;
  return sets.filter((set) => (type === "" || set.type === type) && (wanted === "" || holds(set, wanted)));
}

const holds = (set: Rrset, text: string): boolean =>
  nameHolds(set.name, text) ||
  [set.type, typeName(set.type)].some((type) => type.toLowerCase() === text) ||
  set.records.some(({ value, comment }) =>
    [value, readableValue(set.type, value), shownValue(value), comment].some((each) =>
      each.toLowerCase().includes(text),
    ),
  ) ||
  Object.entries(set.labels).some(([key, value]) => `${key}=${value}`.toLowerCase().includes(text));

/** The zone's own name comes first; numbers inside names sort as numbers, and names sort as they are shown. */
export function sortSets(sets: readonly Rrset[], by: SortBy, descending: boolean): readonly Rrset[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const byName = (a: Rrset, b: Rrset) =>
    Number(b.name === "@") - Number(a.name === "@") ||
    compare(shown(a.name), shown(b.name)) ||
    compare(typeName(a.type), typeName(b.type));
  const orders: Readonly<Record<SortBy, (a: Rrset, b: Rrset) => number>> = {
    name: byName,
    type: (a, b) => compare(typeName(a.type), typeName(b.type)) || byName(a, b),
    ttl: (a, b) => (a.ttl ?? -1) - (b.ttl ?? -1) || byName(a, b),
    value: (a, b) => compare(a.records[0]?.value ?? "", b.records[0]?.value ?? "") || byName(a, b),
  };
  const sorted = sets.toSorted(orders[by] ?? byName);
  return descending ? sorted.reverse() : sorted;
}

/** What an action on many sets takes: the zone's SOA record only if it is chosen itself. */
export const takenTogether = (sets: readonly Rrset[]): readonly Rrset[] => sets.filter(({ type }) => type !== "SOA");
