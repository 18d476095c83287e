import { apex } from "../names/name.ts";
import type { RecordType } from "../rdata/table.ts";
import { setKey } from "../records/rrset.ts";
import type { Fault } from "../result.ts";
import type { Steps } from "../steps.ts";
import { atLine } from "./entries.ts";
import type { SetMarks } from "./marks.ts";

/** Like `RRset`, but its records have no ids and times yet. */
export type FileSet = SetMarks & {
  readonly owner: string;
  readonly type: RecordType;
  /** Null: the zone's default. */
  readonly ttl: number | null;
  readonly records: readonly FileRecord[];
};

/** The sets that every zone has, and that a file from elsewhere has of its own. */
export const isOwnSet = ({ owner, type }: { readonly owner: string; readonly type: string }): boolean =>
  owner === apex && (type === "SOA" || type === "NS");

/** Whose SOA and NS sets a zone has after an import: its own, or those that the file has. */
export type OwnSets = "zone" | "file";

export type FileRecord = {
  /** As written, or canonical if it would mean something else outside the file. */
  readonly value: string;
  /** Canonical. */
  readonly rdata: string;
  readonly comment: string;
  readonly line: number;
};

export type RecordPlace = { readonly owner: string; readonly type: RecordType; readonly ttl: number | null };

/** Sets that are being read, by key. */
export type GrowingSets = Map<string, GrowingSet>;

type GrowingSet = RecordPlace & {
  readonly records: FileRecord[];
  /** Indexes into `records` by rdata; only for sets that are large enough to need it. */
  places: Map<string, number> | undefined;
  lowest: number | undefined;
  highest: number | undefined;
  usesDefault: boolean;
  /** The line of the first record whose TTL differs from that of the first record. */
  differsAt: number | undefined;
};

/** Duplicate records are merged (RFC 2181 section 5). */
export function addRecord(sets: GrowingSets, place: RecordPlace, record: FileRecord): void {
  const key = setKey(place.owner, place.type);
  let set = sets.get(key);
  if (set === undefined) {
    set = emptySet(place);
    sets.set(key, set);
  }
  const at = placeOf(set, record.rdata);
  const twin = set.records[at];
  if (twin === undefined) {
    set.places?.set(record.rdata, at);
    set.records.push(record);
  } else if (twin.comment === "") {
    set.records[at] = { ...twin, comment: record.comment };
  }
  if (place.ttl === null) {
    set.usesDefault = true;
  } else {
    set.lowest = Math.min(place.ttl, set.lowest ?? place.ttl);
    set.highest = Math.max(place.ttl, set.highest ?? place.ttl);
  }
  if (place.ttl !== set.ttl) set.differsAt ??= record.line;
}

/**
 * The records of a set have one TTL (RFC 2181 section 5.2): the lowest, so that none is cached longer than its line
 * says.
 */
export function* finishingSets(
  sets: GrowingSets,
  fileTtl: number | undefined,
): Steps<{ readonly sets: readonly FileSet[]; readonly notes: readonly Fault[] }> {
  const notes: Fault[] = [];
  const finished: FileSet[] = [];
  for (const { owner, type, records, lowest, highest, usesDefault, differsAt } of sets.values()) {
    const ttl = lowest === undefined || (usesDefault && (fileTtl ?? lowest) < lowest) ? null : lowest;
    const mixed = lowest !== highest || (usesDefault && lowest !== fileTtl);
    if (differsAt !== undefined && mixed) notes.push(mixedTtl(setKey(owner, type), ttl ?? fileTtl, differsAt));
    finished.push({ owner, type, ttl, records });
    yield;
  }
  return { sets: finished, notes };
}

/** Replaces set keys in `where`, as the zone's check returns them, by the lines where those sets start. */
export function placeInFile(faults: readonly Fault[], sets: readonly FileSet[]): readonly Fault[] {
  if (faults.length === 0) return faults;
  const lines = new Map(sets.map((set) => [setKey(set.owner, set.type), set.records[0]?.line]));
  return faults.map((fault) => {
    const line = lines.get(fault.where);
    return line === undefined ? fault : { ...fault, where: atLine(line) };
  });
}

/** The index of the record with this data, or the index for a new one. */
function placeOf(set: GrowingSet, rdata: string): number {
  if (set.records.length > 8) set.places ??= new Map(set.records.map((record, i) => [record.rdata, i]));
  const at = set.places === undefined ? set.records.findIndex((each) => each.rdata === rdata) : set.places.get(rdata);
  return at === undefined || at < 0 ? set.records.length : at;
}

const emptySet = (place: RecordPlace): GrowingSet => ({
  ...place,
  records: [],
  places: undefined,
  lowest: undefined,
  highest: undefined,
  usesDefault: false,
  differsAt: undefined,
});

const mixedTtl = (key: string, ttl: number | undefined, line: number): Fault => ({
  code: "mixed-ttl",
  where: atLine(line),
  message: `the records of ${key} have different TTLs; all get the lowest one, ${ttl}`,
});
