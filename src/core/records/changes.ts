import { eachInSteps, finish, type Steps } from "../steps.ts";
import { type RRset, setKey, type ZoneRecord } from "./rrset.ts";

/** What happened to one set. A set without records does not exist, so it is never before or after. */
export type Change = { readonly owner: string; readonly type: RRset["type"] } & (
  | { readonly kind: "create"; readonly before: null; readonly after: RRset }
  | { readonly kind: "replace"; readonly before: RRset; readonly after: RRset }
  | { readonly kind: "delete"; readonly before: RRset; readonly after: null }
);

/**
 * The changes that turn the existing sets into the wanted ones. Equal sets need none, unless an id has moved to another
 * value or set: clients know records by their ids. Pass only the sets that a write may touch. Deletions come first, so
 * that a CNAME is removed before its replacement is added.
 */
export const diffSets = (existing: readonly RRset[], wanted: readonly RRset[]): readonly Change[] =>
  existing.length + wanted.length <= fewSets ? diffFew(existing, wanted) : finish(diffingSets(existing, wanted));

/** Comparing each with each is faster than an index. */
const fewSets = 8;

function diffFew(existing: readonly RRset[], wanted: readonly RRset[]): readonly Change[] {
  const changes: Change[] = [];
  for (const set of existing)
    if (set.records.length > 0 && !wanted.some((other) => isAtPlace(other, set)))
      changes.push({ kind: "delete", owner: set.owner, type: set.type, before: set, after: null });
  const hasMoved = lazily(() => finish(findingMovedIds(finish(findingByKey(existing)), finish(findingByKey(wanted)))));
  for (const [i, set] of wanted.entries()) {
    // The last one of a place counts.
    if (set.records.length === 0 || wanted.some((other, k) => k > i && isAtPlace(other, set))) continue;
    const old = existing.findLast((each) => isAtPlace(each, set));
    const change = changeTo(set, old, hasMoved);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

const isAtPlace = (set: RRset, { owner, type }: RRset): boolean =>
  set.type === type && set.owner === owner && set.records.length > 0;

const lazily = (find: () => ReadonlySet<string>): ((record: ZoneRecord) => boolean) => {
  let movedIdSet: ReadonlySet<string> | undefined;
  return ({ id }) => {
    movedIdSet ??= find();
    return movedIdSet.has(id);
  };
};

function changeTo(set: RRset, old: RRset | undefined, hasMoved: (record: ZoneRecord) => boolean): Change | undefined {
  const { owner, type } = set;
  if (old === undefined) return { kind: "create", owner, type, before: null, after: set };
  const isSame =
    haveEqualContent(old, set) && (haveSameIds(old, set) || ![...old.records, ...set.records].some(hasMoved));
  return isSame ? undefined : { kind: "replace", owner, type, before: old, after: set };
}

/** `diffSets` in steps. */
export function* diffingSets(existing: readonly RRset[], wanted: readonly RRset[]): Steps<readonly Change[]> {
  const before = yield* findingByKey(existing);
  const after = yield* findingByKey(wanted);
  const deletes: Change[] = [];
  const others: Change[] = [];
  let moved: ReadonlySet<string> | undefined;
  for (const [key, set] of before) {
    if (!after.has(key)) deletes.push({ kind: "delete", owner: set.owner, type: set.type, before: set, after: null });
    yield;
  }
  for (const [key, set] of after) {
    const old = before.get(key);
    if (old && !haveSameIds(old, set) && haveEqualContent(old, set)) moved ??= yield* findingMovedIds(before, after);
    const change = changeTo(set, old, ({ id }) => moved?.has(id) ?? false);
    if (change !== undefined) others.push(change);
    yield;
  }
  return [...deletes, ...others];
}

/** The change that undoes this one. */
export function invertChange(change: Change): Change {
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

export const sameSet = (a: RRset, b: RRset): boolean => diffSets([a], [b]).length === 0;

/**
 * Sets of one owner and type are equal when TTL, lock, labels and records are, whatever the order and the ids of the
 * records.
 */
function haveEqualContent(a: RRset, b: RRset): boolean {
  if ((a.locked ?? false) !== (b.locked ?? false) || !sameLabels(a.labels, b.labels)) return false;
  if (a.ttl !== b.ttl || a.records.length !== b.records.length) return false;
  if (a.records.every((record, i) => sameRecord(record, b.records[i]))) return true;
  if (a.records.length === 1) return false;
  const contents = b.records.map(content).sort();
  return a.records
    .map(content)
    .sort()
    .every((text, i) => text === contents[i]);
}

/** Whether two sets have equal records in one order, with equal ids. */
const haveSameIds = (a: RRset, b: RRset): boolean =>
  a.records.every((record, i) => record.id === b.records[i]?.id && sameRecord(record, b.records[i]));

type SetsByKey = ReadonlyMap<string, RRset>;

/** The ids of records that exist before and after, but in another set or with other content. */
function* findingMovedIds(before: SetsByKey, after: SetsByKey): Steps<ReadonlySet<string>> {
  const textById = new Map<string, string>();
  const moved = new Set<string>();
  yield* eachInSteps(before, ([key, set]) => {
    for (const record of set.records) textById.set(record.id, `${key} ${content(record)}`);
  });
  yield* eachInSteps(after, ([key, set]) => {
    for (const record of set.records) {
      const text = textById.get(record.id);
      if (text !== undefined && text !== `${key} ${content(record)}`) moved.add(record.id);
    }
  });
  return moved;
}

function sameLabels(a: RRset["labels"] = {}, b: RRset["labels"] = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

const sameRecord = (a: ZoneRecord, b: ZoneRecord | undefined): boolean =>
  b !== undefined && a.rdata === b.rdata && a.comment === b.comment && a.value === b.value && a.name === b.name;

const content = (record: ZoneRecord): string =>
  JSON.stringify([record.rdata, record.comment, record.value, record.name]);

function* findingByKey(sets: readonly RRset[]): Steps<SetsByKey> {
  const byKey = new Map<string, RRset>();
  yield* eachInSteps(sets, (set) => {
    if (set.records.length > 0) byKey.set(setKey(set.owner, set.type), set);
  });
  return byKey;
}
