import type { Instant } from "../../../core/instant.ts";
import type { RRset, ZoneRecord } from "../../../core/records/rrset.ts";
import { fail, ok, type Result } from "../../../core/result.ts";
import { duplicateValue, type Place, type Value } from "./values.ts";

/** What the record-set API can do to one set. `set` is undefined where there is none; so is the result where none is left. */

export type Fresh = {
  readonly now: Instant;
  /** The id of the first record that was not there before, of the second, and so on: the same whenever it is asked for. */
  readonly newId: (i: number) => string;
};

/**
 * The set with exactly these values. A record keeps its id and age where its value stays; one whose value is replaced by
 * another hands its id on, so that who knows it by its id in the v1 API follows it through a change of address.
 */
export function withValues(
  place: Place,
  set: RRset | undefined,
  values: readonly Value[],
  { now, newId }: Fresh,
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

/** The TTL is that of a new set; said of one that is there, it must be the one it has. */
export function withMore(
  place: Place,
  set: RRset | undefined,
  more: { readonly values: readonly Value[]; readonly ttl: number | null; readonly zoneTtl: number },
  fresh: Fresh,
): Result<RRset> {
  if (set === undefined) return ok({ ...withValues(place, set, more.values, fresh), ttl: more.ttl });
  if (more.ttl !== null && more.ttl !== (set.ttl ?? more.zoneTtl)) return fail(differingTtl);
  const known = new Set(set.records.map((record) => record.rdata));
  const faults = more.values.flatMap(({ value, rdata }, i) => (known.has(rdata) ? [duplicateValue(value, i)] : []));
  if (faults.length > 0) return fail(...faults);
  const added = withValues(place, undefined, more.values, fresh).records;
  return ok({ ...set, records: [...set.records, ...added] });
}

/** A value that is not there is no reason to refuse: whoever cleans up twice has what was wanted. */
export function withLess(set: RRset, values: readonly Value[]): RRset | undefined {
  const gone = new Set(values.map((value) => value.rdata));
  const records = set.records.filter((record) => !gone.has(record.rdata));
  return records.length === 0 ? undefined : { ...set, records };
}

/** Only comments; here a value that is not there is a mistake. */
export function withComments(set: RRset, values: readonly Value[], now: Instant): Result<RRset> {
  const comments = new Map(values.map((value) => [value.rdata, value.comment]));
  const known = new Set(set.records.map((record) => record.rdata));
  const faults = values.flatMap(({ value, rdata }, i) => (known.has(rdata) ? [] : [valueMissing(value, i)]));
  if (faults.length > 0) return fail(...faults);
  const records = set.records.map((record) => {
    const comment = comments.get(record.rdata) ?? record.comment;
    return comment === record.comment ? record : { ...record, comment, modified: now };
  });
  return ok({ ...set, records });
}

/** The sets with this one in its place, or without any there. */
export const placed = (sets: readonly RRset[], { owner, type }: Place, set: RRset | undefined): readonly RRset[] => [
  ...sets.filter((each) => each.owner !== owner || each.type !== type),
  ...(set === undefined ? [] : [set]),
];

export const setAt = (sets: readonly RRset[], { owner, type }: Place): RRset | undefined =>
  sets.find((each) => each.owner === owner && each.type === type);

const differingTtl = {
  code: "ttl-differs",
  where: "ttl",
  message: "RRSet has differing record TTLs",
  todo: "leave the TTL out, or change that of the set first",
};

const valueMissing = (value: string, i: number) => ({
  code: "value-missing",
  where: `records[${i}].value`,
  message: `value '${value}' not found`,
  todo: "add it first",
});
