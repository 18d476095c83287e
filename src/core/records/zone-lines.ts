import type { Instant } from "../instant.ts";
import type { RecordType } from "../rdata/table.ts";
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
export function setsFromLines(
  lines: readonly ZoneLine[],
  before: readonly RRset[],
  { now, newId }: FromLines,
): readonly RRset[] {
  const known = new Map(before.map((set) => [setKey(set.owner, set.type), set]));
  return [...Map.groupBy(lines, ({ owner, type }) => setKey(owner, type))].flatMap(([key, own]) => {
    const [first] = own;
    if (first === undefined) return [];
    const { owner, type } = first;
    const old = known.get(key);
    const records = new Map(old?.records.map((record) => [record.rdata, record]));
    const newRecord = ({ rdata, value = rdata }: ZoneLine): ZoneRecord => {
      const base = { id: newId(), name: owner, comment: "", created: now };
      return { ...base, value, rdata, modified: now };
    };
    const values = new Map(own.map((line) => [line.rdata, line]));
    // RFC 2181 section 5.2: different TTLs within a set are an error; the shortest does the least harm.
    const ttl = own.reduce((least, line) => Math.min(least, line.ttl), first.ttl);
    return [
      {
        ...old,
        owner,
        type,
        ttl,
        records: [...values.values()].map((line) => records.get(line.rdata) ?? newRecord(line)),
      },
    ];
  });
}

/**
 * The sets after these steps; undefined when a step removes a record that does not exist: then the steps are for
 * another version.
 */
export function setsAfterSteps(
  steps: readonly ZoneStep[],
  before: readonly RRset[],
  zoneTtl: number,
  how: FromLines,
): readonly RRset[] | undefined {
  const lines = new Map(linesOfSets(before, zoneTtl).map((line) => [lineKey(line), line]));
  for (const { removed, added } of steps) {
    for (const line of removed) if (!lines.delete(lineKey(line))) return undefined;
    for (const line of added) lines.set(lineKey(line), line);
  }
  return setsFromLines([...lines.values()], before, how);
}

const lineKey = ({ owner, type, rdata }: ZoneLine): string => `${setKey(owner, type)} ${rdata}`;

const linesOfSets = (sets: readonly RRset[], zoneTtl: number): readonly ZoneLine[] =>
  sets.flatMap(({ owner, type, ttl, records }) =>
    records.map(({ rdata }) => ({ owner, type, ttl: ttl ?? zoneTtl, rdata })),
  );
