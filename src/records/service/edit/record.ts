import type { Instant } from "../../../core/instant.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import type { RRset, ZoneRecord } from "../../../core/records/rrset.ts";
import type { Fault } from "../../../core/result.ts";
import type { PlacedRecord } from "../../model.ts";
import type { Decide, WriteView } from "../../store/port.ts";
import { checkWrite } from "./check-write.ts";

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

type Identity = { readonly id: string; readonly now: Instant };

type Refused = { readonly kind: "refused"; readonly faults: readonly Fault[] };
type Edited = { readonly kind: "done"; readonly placed: PlacedRecord } | Refused;

/** One more record in its set. A TTL that is said counts for the whole set; one that is not leaves the set's own. */
export function createRecord(view: WriteView, content: RecordContent, { id, now }: Identity) {
  const { sets } = view;
  const record = recordOf(content, { id, comment: "", created: now, modified: now });
  const set = setAt(sets, content);
  const grown = { ...set, ttl: content.ttl ?? set.ttl, records: [...set.records, record] };
  return checked(view, withSet(sets, grown), id);
}

/** All of the record is replaced, also its TTL: not saying one clears it. Id and creation time stay. */
export function replaceRecord(view: WriteView, content: RecordContent, { id, now }: Identity) {
  const { sets } = view;
  const { home, old } = find(sets, id);
  const record = recordOf(content, { ...old, modified: now });
  const ttl = content.ttl ?? null;
  if (isAt(home, content)) {
    if (sameContent(old, record) && home.ttl === ttl) return checked(view, sets, id);
    const records = home.records.map((each) => (each === old ? record : each));
    return checked(view, withSet(sets, { ...home, ttl, records }), id);
  }
  const left = withSet(sets, without(home, id));
  const set = setAt(left, content);
  return checked(view, withSet(left, { ...set, ttl, records: [...set.records, record] }), id);
}

export function deleteRecord(view: WriteView, id: string): ReturnType<Decide<{ readonly kind: "done" } | Refused>> {
  const wanted = withSet(view.sets, without(find(view.sets, id).home, id));
  const faults = checkWrite(view, wanted);
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  return { wanted, result: { kind: "done" } };
}

function find(sets: readonly RRset[], id: string): { home: RRset; old: ZoneRecord } {
  const home = sets.find((set) => holds(set, id));
  const old = home?.records.find((record) => record.id === id);
  if (home === undefined || old === undefined) throw new Error("the record is in none of the sets");
  return { home, old };
}

function checked(view: WriteView, wanted: readonly RRset[], id: string): ReturnType<Decide<Edited>> {
  const faults = checkWrite(view, wanted);
  if (faults.length > 0) return { wanted: undefined, result: { kind: "refused", faults } };
  const { home, old: record } = find(wanted, id);
  const { owner, type, ttl } = home;
  return { wanted, result: { kind: "done", placed: { zone: view.zone, owner, type, ttl, record } } };
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
