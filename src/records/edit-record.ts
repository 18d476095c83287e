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

type View = { readonly zone: Zone; readonly sets: readonly RRset[] };
type Identity = { readonly id: string; readonly now: Instant };

type Edited =
  | { readonly kind: "done"; readonly placed: PlacedRecord }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

/** One more record in its set. A TTL that is said counts for the whole set; one that is not leaves the set's own. */
export function createRecord({ zone, sets }: View, content: RecordContent, { id, now }: Identity) {
  const record = recordOf(content, { id, comment: "", created: now, modified: now });
  const set = setAt(sets, content);
  const grown = { ...set, ttl: content.ttl ?? set.ttl, records: [...set.records, record] };
  return checked(zone, withSet(sets, grown), id);
}

/** All of the record is replaced, also its TTL: not saying one clears it. Id and creation time stay. */
export function replaceRecord({ zone, sets }: View, content: RecordContent, { id, now }: Identity) {
  const { home, old } = find(sets, id);
  const record = recordOf(content, { ...old, modified: now });
  const ttl = content.ttl ?? null;
  if (isAt(home, content)) {
    if (sameContent(old, record) && home.ttl === ttl) return checked(zone, sets, id);
    const records = home.records.map((each) => (each === old ? record : each));
    return checked(zone, withSet(sets, { ...home, ttl, records }), id);
  }
  const left = withSet(sets, without(home, id));
  const set = setAt(left, content);
  return checked(zone, withSet(left, { ...set, ttl, records: [...set.records, record] }), id);
}

export function deleteRecord({ sets }: View, id: string) {
  return { wanted: withSet(sets, without(find(sets, id).home, id)), result: { kind: "done" as const } };
}

function find(sets: readonly RRset[], id: string): { home: RRset; old: ZoneRecord } {
  const home = sets.find((set) => holds(set, id));
  const old = home?.records.find((record) => record.id === id);
  if (home === undefined || old === undefined) throw new Error("the record is in none of the sets");
  return { home, old };
}

function checked(zone: Zone, wanted: readonly RRset[], id: string): ReturnType<Decide<Edited>> {
  const faults = checkOwners(wanted);
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  const { home, old: record } = find(wanted, id);
  const { owner, type, ttl } = home;
  return { wanted, result: { kind: "done", placed: { zone, owner, type, ttl, record } } };
}

function recordOf(
  { name, value, rdata }: RecordContent,
  { id, comment, created, modified }: Omit<ZoneRecord, "name" | "value" | "rdata">,
): ZoneRecord {
  return { id, name, value, rdata, comment, created, modified };
}

export const holds = (set: RRset, id: string): boolean => set.records.some((record) => record.id === id);

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
