import type { Instant } from "../../../core/instant.ts";
import type { RRset, SetKey, ZoneRecord } from "../../../core/records/rrset.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { Zone } from "../../model.ts";
import type { SetDraft, SetEdit } from "../requests.ts";
import { duplicateValue, readValues, type Value } from "./values.ts";

/** A set and its place; `set` is undefined if it does not exist. */
export type SetView = {
  readonly zone: Zone;
  readonly place: SetKey;
  readonly set: RRset | undefined;
  readonly stamp: Stamp;
};

export type Stamp = {
  readonly now: Instant;
  /** The id of the i-th new record; always the same for the same `i`. */
  readonly newId: (i: number) => string;
};

/** The set after the edit; undefined if no records are left. */
export function editedSet(edit: SetEdit, view: SetView): Result<RRset | undefined> {
  const { set } = view;
  switch (edit.kind) {
    case "delete":
      return ok(undefined);
    case "ttl":
      return ok(set && { ...set, ttl: edit.ttl });
    case "lock":
      return ok(set && { ...set, locked: edit.locked });
    case "label":
      return ok(set && { ...set, ...(edit.labels && { labels: edit.labels }) });
    case "put":
    case "replace":
      return withDraft(view, edit.draft);
    default:
      return withRecords(edit.kind, edit.draft, view);
  }
}

function withRecords(
  kind: "create" | "add" | "remove" | "comment",
  draft: SetDraft,
  { zone, place, set, stamp }: SetView,
): Result<RRset | undefined> {
  if (kind === "create" && set !== undefined) return fail(setExists(place));
  const values = readValues(place.type, draft.records, zone);
  if (!values.ok) return values;
  const { labels, locked, ttl = null } = draft;
  switch (kind) {
    case "create":
      return ok({
        ...withValues(place, undefined, values.value, stamp),
        ttl,
        ...(labels && { labels }),
        ...(locked && { locked }),
      });
    case "add":
      return withMore(place, set, { values: values.value, ttl, zoneTtl: zone.settings.ttl }, stamp);
    case "remove":
      return ok(set && withLess(set, values.value));
    case "comment":
      return set ? withComments(set, values.value, stamp.now) : ok(set);
    default:
      return kind satisfies never;
  }
}

/** Replaces the records of the set with those of the draft. */
export function withDraft({ zone, place, set, stamp }: SetView, draft: SetDraft, where?: string): Result<RRset> {
  const values = readValues(place.type, draft.records, zone, where);
  if (!values.ok) return values;
  const { ttl = set?.ttl ?? null, labels = set?.labels } = draft;
  return ok({ ...withValues(place, set, values.value, stamp), ttl, ...(labels && { labels }) });
}

/**
 * The set with exactly these values. A record whose value stays keeps its id and times. A new value takes over the id
 * of a value that goes, so that a v1 client that knows the record by its id can follow it through a change of address.
 */
export function withValues(
  place: SetKey,
  set: RRset | undefined,
  values: readonly Value[],
  { now, newId }: Stamp,
): RRset {
  const old = set?.records ?? [];
  const byData = new Map(old.map((record) => [record.rdata, record]));
  const free = old.filter((record) => !values.some((value) => value.rdata === record.rdata));
  let next = 0;
  const records = values.map((value): ZoneRecord => {
    const same = byData.get(value.rdata);
    if (same !== undefined) return sayingThis(same, value, now);
    const heir = free.shift();
    if (heir !== undefined) return { ...heir, ...value, name: place.owner, modified: now };
    const id = newId(next);
    next += 1;
    return { id, name: place.owner, ...value, created: now, modified: now };
  });
  return { ttl: null, ...set, ...place, records };
}

const sayingThis = (record: ZoneRecord, { value, comment }: Value, now: Instant): ZoneRecord =>
  record.value === value && record.comment === comment ? record : { ...record, value, comment, modified: now };

/** Several clients prove a name at the same time, each with a TTL of its own; the lowest one counts for all. */
const isChallenge = ({ owner, type }: SetKey): boolean => type === "TXT" && /^_acme-challenge(?:\.|$)/.test(owner);

/** The TTL applies to a new set; for an existing set it must equal the set's TTL. */
export function withMore(
  place: SetKey,
  set: RRset | undefined,
  more: { readonly values: readonly Value[]; readonly ttl: number | null; readonly zoneTtl: number },
  stamp: Stamp,
): Result<RRset> {
  if (set === undefined) return ok({ ...withValues(place, set, more.values, stamp), ttl: more.ttl });
  const ttl = more.ttl !== null && isChallenge(place) ? Math.min(more.ttl, set.ttl ?? more.zoneTtl) : set.ttl;
  if (more.ttl !== null && !isChallenge(place) && more.ttl !== (set.ttl ?? more.zoneTtl)) return fail(differingTtl);
  const ownValues = new Set(set.records.map((record) => record.rdata));
  const faults = more.values.flatMap(({ value, rdata }, i) => (ownValues.has(rdata) ? [duplicateValue(value, i)] : []));
  if (faults.length > 0) return fail(...faults);
  const added = withValues(place, undefined, more.values, stamp).records;
  return ok({ ...set, ttl, records: [...set.records, ...added] });
}

/** Removing a missing value is not an error, so that a repeated clean-up succeeds. */
export function withLess(set: RRset, values: readonly Value[]): RRset | undefined {
  const gone = new Set(values.map((value) => value.rdata));
  const records = set.records.filter((record) => !gone.has(record.rdata));
  return records.length === 0 ? undefined : { ...set, records };
}

/** Changes only comments; here a missing value is an error. */
export function withComments(set: RRset, values: readonly Value[], now: Instant): Result<RRset> {
  const comments = new Map(values.map((value) => [value.rdata, value.comment]));
  const ownValues = new Set(set.records.map((record) => record.rdata));
  const faults = values.flatMap(({ value, rdata }, i) => (ownValues.has(rdata) ? [] : [valueMissing(value, i)]));
  if (faults.length > 0) return fail(...faults);
  const records = set.records.map((record) => {
    const comment = comments.get(record.rdata) ?? record.comment;
    return comment === record.comment ? record : { ...record, comment, modified: now };
  });
  return ok({ ...set, records });
}

/** The sets with this one in its place, or without it. */
export const withSet = (sets: readonly RRset[], { owner, type }: SetKey, set: RRset | undefined): readonly RRset[] => [
  ...sets.filter((each) => each.owner !== owner || each.type !== type),
  ...(set === undefined ? [] : [set]),
];

export const setAt = (sets: readonly RRset[], { owner, type }: SetKey): RRset | undefined =>
  sets.find((each) => each.owner === owner && each.type === type);

const setExists = ({ owner, type }: SetKey): Fault => ({
  code: "set-exists",
  where: "name",
  message: `RRSet ${owner}/${type} already exists`,
  todo: "replace its records instead",
});

const differingTtl = {
  code: "ttl-differs",
  where: "ttl",
  message: "RRSet has differing record TTLs",
  todo: "omit the TTL, or change the TTL of the set first",
};

const valueMissing = (value: string, i: number) => ({
  code: "value-missing",
  where: `records[${i}].value`,
  message: `value '${value}' not found`,
  todo: "add it first",
});
