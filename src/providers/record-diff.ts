import type { SetName } from "./provider-calls.ts";
import { sameValues } from "./provider-set.ts";

export type RecordDiff<R> = {
  readonly kept: readonly R[];
  /** Records that get another value. */
  readonly changed: readonly { readonly record: R; readonly value: string }[];
  readonly removed: readonly R[];
  readonly added: readonly string[];
};

/**
 * What turns the records of a set into the wanted values, for services with a separate record for each value. Records
 * with a wanted value stay, the others get the missing values, so that as many ids, comments and flags as possible
 * survive.
 */
export function recordDiff<R extends { readonly value: string }>(
  set: SetName,
  current: readonly R[],
  wanted: readonly string[],
): RecordDiff<R> {
  const isSame = (one: string, other: string) => sameValues(set, [one], [other]);
  const kept = current.filter(
    ({ value }, at) =>
      wanted.some((each) => isSame(each, value)) && current.findIndex((each) => isSame(each.value, value)) === at,
  );
  const free = current.filter((record) => !kept.includes(record));
  const missing = wanted.filter((value) => !kept.some((record) => isSame(record.value, value)));
  return {
    kept,
    changed: free.slice(0, missing.length).map((record, at) => ({ record, value: missing[at] ?? "" })),
    removed: free.slice(missing.length),
    added: missing.slice(free.length),
  };
}
