import type { Instant } from "../instant.ts";
import type { RecordType } from "../rdata/table.ts";
import { mapInSteps, type Steps } from "../steps.ts";
import { type RRset, setKey, type ZoneRecord } from "./rrset.ts";

/** A zone as its primary sends it: record by record. */

export type ZoneLine = {
  readonly owner: string;
  readonly type: RecordType;
  readonly ttl: number;
  /** Canonical. */
  readonly rdata: string;
  /** The form for people, if it differs from `rdata`. */
  readonly value?: string;
};

/** What changes from one version to the next. The SOA is in both lists. */
export type ZoneStep = { readonly removed: readonly ZoneLine[]; readonly added: readonly ZoneLine[] };

export type FromLines = { readonly now: Instant; readonly newId: () => string };

/** The sets of these records. Existing records keep their ids, times and comments, and existing sets their labels. */
export function* readingSets(
  lines: readonly ZoneLine[],
  before: readonly RRset[],
  how: FromLines,
): Steps<readonly RRset[]> {
  const setsByKey = new Map(yield* mapInSteps(before, (set) => [setKey(set.owner, set.type), set] as const));
  const groups = new Map<string, [ZoneLine, ...ZoneLine[]]>();
  for (const line of lines) {
    const key = setKey(line.owner, line.type);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
    yield;
  }
  return yield* mapInSteps(groups, ([key, own]) => setOf(own, setsByKey.get(key), how));
}

function setOf(own: readonly [ZoneLine, ...ZoneLine[]], old: RRset | undefined, { now, newId }: FromLines): RRset {
  const [{ owner, type, ttl: firstTtl }] = own;
  const records = new Map(old?.records.map((record) => [record.rdata, record]));
  const newRecord = ({ rdata, value = rdata }: ZoneLine): ZoneRecord => {
    const base = { id: newId(), name: owner, comment: "", created: now };
    return { ...base, value, rdata, modified: now };
  };
  const values = new Map(own.map((line) => [line.rdata, line]));
  // RFC 2181 section 5.2: different TTLs within a set are an error; the shortest does the least harm.
  const ttl = own.reduce((least, line) => Math.min(least, line.ttl), firstTtl);
  const kept = [...values.values()].map((line) => records.get(line.rdata) ?? newRecord(line));
  return { ...old, owner, type, ttl, records: kept };
}

/**
 * The sets after these steps; undefined when a step removes a record that does not exist: then the steps are for
 * another version.
 */
export function* applyingSteps(
  steps: readonly ZoneStep[],
  before: readonly RRset[],
  zoneTtl: number,
  how: FromLines,
): Steps<readonly RRset[] | undefined> {
  const lines = new Map<string, ZoneLine>();
  for (const set of before) {
    for (const line of linesOf(set, zoneTtl)) lines.set(lineKey(line), line);
    yield;
  }
  for (const { removed, added } of steps) {
    for (const line of removed) if (!lines.delete(lineKey(line))) return undefined;
    for (const line of added) lines.set(lineKey(line), line);
    yield;
  }
  return yield* readingSets([...lines.values()], before, how);
}

const lineKey = ({ owner, type, rdata }: ZoneLine): string => `${setKey(owner, type)} ${rdata}`;

const linesOf = ({ owner, type, ttl, records }: RRset, zoneTtl: number): readonly ZoneLine[] =>
  records.map(({ rdata }) => ({ owner, type, ttl: ttl ?? zoneTtl, rdata }));
