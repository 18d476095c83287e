import { type RRset, setKey, type ZoneRecord } from "./rrset.ts";

/** What happened to one set. A set without records does not exist, so it is never before or after. */
export type Change = { readonly owner: string; readonly type: RRset["type"] } & (
  | { readonly kind: "create"; readonly before: null; readonly after: RRset }
  | { readonly kind: "replace"; readonly before: RRset; readonly after: RRset }
  | { readonly kind: "delete"; readonly before: RRset; readonly after: null }
);

/**
 * What turns the existing sets into the wanted ones; nothing for sets that say the same. Give only the sets that a
 * write may touch. Deletions come first: a CNAME leaves before what replaces it arrives.
 */
export function diffSets(existing: readonly RRset[], wanted: readonly RRset[]): readonly Change[] {
  const before = byKey(existing);
  const after = byKey(wanted);
  const deletes: Change[] = [];
  const others: Change[] = [];
  for (const [key, set] of before) {
    if (!after.has(key)) deletes.push({ kind: "delete", owner: set.owner, type: set.type, before: set, after: null });
  }
  for (const [key, set] of after) {
    const { owner, type } = set;
    const old = before.get(key);
    if (old === undefined) others.push({ kind: "create", owner, type, before: null, after: set });
    else if (!sameSet(old, set)) others.push({ kind: "replace", owner, type, before: old, after: set });
  }
  return [...deletes, ...others];
}

/** The changes that undo these. */
export function invertChanges(changes: readonly Change[]): readonly Change[] {
  return changes.toReversed().map(invertChange);
}

function invertChange(change: Change): Change {
  const { owner, type } = change;
  switch (change.kind) {
    case "create":
      return { kind: "delete", owner, type, before: change.after, after: null };
    case "delete":
      return { kind: "create", owner, type, before: null, after: change.before };
    case "replace":
      return { kind: "replace", owner, type, before: change.after, after: change.before };
  }
}

/**
 * Sets say the same when TTL, marks and records do, whatever the order and the ids of the records; but not when records that
 * both have have exchanged what they say: who knows one of them by its id would change the other.
 */
export function sameSet(a: RRset, b: RRset): boolean {
  if ((a.locked ?? false) !== (b.locked ?? false) || !sameLabels(a.labels, b.labels)) return false;
  if (a.owner !== b.owner || a.type !== b.type || a.ttl !== b.ttl || a.records.length !== b.records.length)
    return false;
  if (a.records.every((record, i) => record.id === b.records[i]?.id && sameRecord(record, b.records[i]))) return true;
  if (a.records.length === 1) return sameRecord(a.records[0], b.records[0]);
  const contents = b.records.map(content).sort();
  const sameContents = a.records
    .map(content)
    .sort()
    .every((text, i) => text === contents[i]);
  return sameContents && !haveExchanged(a.records, b.records);
}

function haveExchanged(before: readonly ZoneRecord[], after: readonly ZoneRecord[]): boolean {
  const known = Map.groupBy(after, (record) => record.id);
  return before.some((record) => known.get(record.id)?.every((now) => !sameRecord(record, now)));
}

function sameLabels(a: RRset["labels"] = {}, b: RRset["labels"] = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

const sameRecord = (a: ZoneRecord | undefined, b: ZoneRecord | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.rdata === b.rdata &&
  a.comment === b.comment &&
  a.value === b.value &&
  a.name === b.name;

const content = (record: ZoneRecord): string =>
  JSON.stringify([record.rdata, record.comment, record.value, record.name]);

const byKey = (sets: readonly RRset[]): Map<string, RRset> =>
  new Map(sets.filter((set) => set.records.length > 0).map((set) => [setKey(set.owner, set.type), set]));
