import type { RecordType } from "../rdata/table.ts";

/** The sets of one name. Most names have few; a map of many finds one of them as fast, and takes changes in place. */
export type NodeSets<Set extends { readonly type: RecordType }> = readonly Set[] | Map<RecordType, Set>;

const mostInList = 16;

export const findSet = <Set extends { readonly type: RecordType }>(
  sets: NodeSets<Set>,
  type: RecordType,
): Set | undefined => (sets instanceof Map ? sets.get(type) : sets.find((set) => set.type === type));

/** The sets with `set` instead of the one of its type; without that one if `set` is undefined. */
export function replaceSet<Set extends { readonly type: RecordType }>(
  sets: NodeSets<Set>,
  type: RecordType,
  set: Set | undefined,
): NodeSets<Set> {
  if (sets instanceof Map) {
    if (set) sets.set(type, set);
    else sets.delete(type);
    return sets;
  }
  const at = sets.findIndex((each) => each.type === type);
  if (set === undefined) return sets.filter((each) => each.type !== type);
  // Concatenated, not spread: V8 would reserve room for sixteen more sets.
  const all = at < 0 ? sets.concat([set]) : sets.with(at, set);
  return all.length > mostInList ? new Map(all.map((each) => [each.type, each])) : all;
}

export const hasSets = (sets: NodeSets<{ readonly type: RecordType }>): boolean =>
  sets instanceof Map ? sets.size > 0 : sets.length > 0;
