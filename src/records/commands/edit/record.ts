import type { Instant } from "../../../core/instant.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import { keyOf, type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import type { Fault } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import type { RecordInZone, Zone } from "../../model.ts";
import type { Decide, WriteView } from "../../store/port.ts";
import { checkWrite } from "./check-write.ts";

/** A checked record and where it belongs. */
export type RecordContent = {
  readonly owner: string;
  readonly type: RecordType;
  /** Undefined: not given. */
  readonly ttl: number | undefined;
  readonly name: string;
  readonly value: string;
  readonly rdata: string;
};

/** A new record, or the replacement of the record with this id. */
export type Edit = { readonly id: string; readonly content: RecordContent };

type Refused = { readonly kind: "refused"; readonly faults: readonly Fault[] };
type Edited = { readonly kind: "done"; readonly recordInZone: RecordInZone } | Refused;

export function editRecord(view: WriteView, edit: Edit, now: Instant): ReturnType<Decide<Edited>> {
  const editing = beginEdits(view.sets, [edit]);
  putAll(editing, [edit], now);
  const { wanted, recordOf } = endEdits(view.zone, editing);
  const faults = checkWrite(view, wanted);
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  return { wanted, result: { kind: "done", recordInZone: recordOf(edit) } };
}

export function deleteRecord(view: WriteView, id: string): ReturnType<Decide<{ kind: "done" } | Refused>> {
  const wanted = view.sets
    .map((set) => (holds(set, id) ? { ...set, records: set.records.filter((record) => record.id !== id) } : set))
    .filter((set) => set.records.length > 0);
  const faults = checkWrite(view, wanted);
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  return { wanted, result: { kind: "done" } };
}

export const holds = (set: RRset, id: string): boolean => set.records.some((record) => record.id === id);

/** A set while it is edited: its records by id, in their order. */
type OpenSet = { readonly set: RRset; ttl: number | null; readonly records: Map<string, ZoneRecord> };

type EditedSets = { readonly wanted: readonly RRset[]; readonly recordOf: (edit: Edit) => RecordInZone };

type RecordInSet = { readonly set: RRset; readonly record: ZoneRecord };

/** The sets after all edits, unchecked, and a function that finds an edited record in them. Ids must be unique. */
export function* editingSets({ zone, sets }: WriteView, edits: readonly Edit[], now: Instant): Steps<EditedSets> {
  const editing = beginEdits(sets, edits);
  yield;
  putAll(editing, edits, now);
  yield;
  return endEdits(zone, editing);
}

type Editing = {
  readonly open: Map<string, OpenSet>;
  /** The records that are replaced, by id. */
  readonly before: ReadonlyMap<string, RecordInSet>;
};

function beginEdits(sets: readonly RRset[], edits: readonly Edit[]): Editing {
  const open = new Map(sets.map((set) => [keyOf(set), openSet(set)]));
  const ids = new Set(edits.map((edit) => edit.id));
  const before = new Map<string, RecordInSet>();
  for (const set of sets)
    for (const record of set.records) if (ids.has(record.id)) before.set(record.id, { set, record });
  for (const { id, content } of edits) {
    const old = before.get(id);
    if (old !== undefined && keyOf(old.set) !== keyOf(content)) open.get(keyOf(old.set))?.records.delete(id);
  }
  return { open, before };
}

function putAll({ open, before }: Editing, edits: readonly Edit[], now: Instant): void {
  for (const edit of edits) putIn(open, edit, before.get(edit.id), now);
}

function endEdits(zone: Zone, { open }: Editing): EditedSets {
  const wanted = [...open.values()]
    .map(({ set, ttl, records }): RRset => ({ ...set, ttl, records: [...records.values()] }))
    .filter((set) => set.records.length > 0);
  const recordOf = ({ id, content: { owner, type } }: Edit): RecordInZone => {
    const { ttl = null, records } = open.get(setKey(owner, type)) ?? {};
    const record = records?.get(id);
    if (record === undefined) throw new Error("an edited record is not in any set");
    return { zone, owner, type, ttl, record };
  };
  return { wanted, recordOf };
}

/**
 * A given TTL applies to the whole set. Without one, a new record keeps the TTL of its set, and a replacement clears
 * it. A replaced record keeps its id, comment and creation time.
 */
function putIn(sets: Map<string, OpenSet>, { id, content }: Edit, old: RecordInSet | undefined, now: Instant): void {
  const { owner, type, name, value, rdata } = content;
  const key = setKey(owner, type);
  const open = sets.get(key) ?? openSet({ owner, type, ttl: null, records: [] });
  sets.set(key, open);
  const { comment, created } = old?.record ?? { comment: "", created: now };
  const record = { id, name, value, rdata, comment, created, modified: now };
  open.records.set(id, old !== undefined && saysTheSame(old, content) ? old.record : record);
  open.ttl = content.ttl ?? (old === undefined ? open.ttl : null);
}

const saysTheSame = ({ set, record }: RecordInSet, { ttl, name, value, rdata, ...place }: RecordContent): boolean =>
  keyOf(set) === keyOf(place) &&
  set.ttl === (ttl ?? null) &&
  record.name === name &&
  record.value === value &&
  record.rdata === rdata;

const openSet = (set: RRset): OpenSet => ({
  set,
  ttl: set.ttl,
  records: new Map(set.records.map((record) => [record.id, record])),
});
