import type { Change } from "../../../src/core/records/changes.ts";
import { type RRset, setKey } from "../../../src/core/records/rrset.ts";

/** The sets after the changes. */
export function applyChanges(sets: readonly RRset[], changes: readonly Change[]): readonly RRset[] {
  const result = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  for (const { owner, type, after } of changes) {
    if (after === null) result.delete(setKey(owner, type));
    else result.set(setKey(owner, type), after);
  }
  return [...result.values()];
}
