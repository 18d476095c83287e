import { checkOwners } from "../core/check-zone.ts";
import type { Instant } from "../core/instant.ts";
import type { RecordType } from "../core/rdata/table.ts";
import type { Fault } from "../core/result.ts";
import type { RRset, ZoneRecord } from "../core/rrset.ts";
import type { Decide, PlacedRecord, Zone } from "./store.ts";

/** A checked record, with the place it shall have. */
export type RecordContent = {
  readonly owner: string;
  readonly type: RecordType;
  /** Undefined: not said. */
  readonly ttl: number | undefined;
  readonly name: string;
  readonly value: string;
  readonly rdata: string;
};

export type Edited =
  | { readonly kind: "done"; readonly placed: PlacedRecord }
  | { readonly kind: "missing"; readonly what: "record" }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

/** One more record in its set. A TTL that is said counts for the whole set; one that is not leaves the set's own. */
export function createRecord(content: RecordContent, id: string, now: Instant): Decide<Edited> {
  return ({ zone, sets }) => {
    const record = recordOf(content, { id, comment: "", created: now, modified: now });
    const set = setAt(sets, content);
    const grown = { ...set, ttl: content.ttl ?? set.ttl, records: [...set.records, record] };
    return checked(zone, withSet(sets, grown), id);
  };
}

/** All of the record is replaced, also its TTL: not saying one clears it. Id and creation time stay. */
export function replaceRecord(content: RecordContent, id: string, now: Instant): Decide<Edited> {
  return ({ zone, sets }) => {
    const home = sets.find((set) => holds(set, id));
    const old = home?.records.find((record) => record.id === id);
    if (home === undefined || old === undefined) return notThere;
    const record = recordOf(content, { ...old, modified: now });
    const stays = home.owner === content.owner && home.type === content.type;
    const ttl = content.ttl ?? null;
    if (stays) {
      if (sameContent(old, record) && home.ttl === ttl) return checked(zone, sets, id);
      const records = home.records.map((each) => (each === old ? record : each));
      return checked(zone, withSet(sets, { ...home, ttl, records }), id);
    }
    const left = withSet(sets, without(home, id));
    const set = setAt(left, content);
    return checked(zone, withSet(left, { ...set, ttl, records: [...set.records, record] }), id);
  };
}

export function deleteRecord(id: string): Decide<{ kind: "done" } | { kind: "missing"; what: "record" }> {
  return ({ sets }) => {
    const home = sets.find((set) => holds(set, id));
    if (home === undefined) return notThere;
    return { wanted: withSet(sets, without(home, id)), result: { kind: "done" } };
  };
}

const notThere = { wanted: undefined, result: { kind: "missing", what: "record" } } as const;

function checked(zone: Zone, wanted: readonly RRset[], id: string): ReturnType<Decide<Edited>> {
  const faults = checkOwners(wanted);
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  const set = wanted.find((each) => holds(each, id));
  const record = set?.records.find((each) => each.id === id);
  if (set === undefined || record === undefined) throw new Error("the edited record is in none of the sets");
  const { owner, type, ttl } = set;
  return { wanted, result: { kind: "done", placed: { zone, owner, type, ttl, record } } };
}

function recordOf(
  { name, value, rdata }: RecordContent,
  { id, comment, created, modified }: Omit<ZoneRecord, "name" | "value" | "rdata">,
): ZoneRecord {
  return { id, name, value, rdata, comment, created, modified };
}

const holds = (set: RRset, id: string): boolean => set.records.some((record) => record.id === id);

const without = (set: RRset, id: string): RRset => ({ ...set, records: set.records.filter((each) => each.id !== id) });

const sameContent = (a: ZoneRecord, b: ZoneRecord): boolean =>
  a.rdata === b.rdata && a.value === b.value && a.name === b.name;

type Place = { readonly owner: string; readonly type: RecordType };

const isAt = (set: RRset, { owner, type }: Place): boolean => set.owner === owner && set.type === type;

const setAt = (sets: readonly RRset[], { owner, type }: Place): RRset =>
  sets.find((set) => isAt(set, { owner, type })) ?? { owner, type, ttl: null, records: [] };

/** The sets with this one in the place of its namesake; an empty one is left out. */
const withSet = (sets: readonly RRset[], set: RRset): readonly RRset[] => [
  ...sets.filter((each) => !isAt(each, set)),
  ...(set.records.length > 0 ? [set] : []),
];
