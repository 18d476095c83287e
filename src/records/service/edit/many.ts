import type { Instant } from "../../../core/instant.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import type { Fault } from "../../../core/result.ts";
import type { PlacedRecord } from "../../model.ts";
import type { WriteView } from "../../store/port.ts";
import { checkWrite } from "./check-write.ts";
import type { RecordContent } from "./record.ts";

/** One record of a bulk: a new one, or one that is there under this id and shall be replaced. No id comes twice. */
export type Edit = { readonly id: string; readonly content: RecordContent };

export type EditedMany =
  | { readonly kind: "done"; readonly wanted: readonly RRset[]; readonly placed: readonly PlacedRecord[] }
  /** Each edit that cannot be done, by its place in the list. */
  | { readonly kind: "refused"; readonly faults: ReadonlyMap<number, readonly Fault[]> };

/** All edits at once: only what comes out of them together must be right, so that two records can swap their values. */
export function editMany(view: WriteView, edits: readonly Edit[], now: Instant): EditedMany {
  const sets = new Map(view.sets.map((set) => [keyOf(set), openSet(set)]));
  const homes = homesOf(view.sets);
  for (const { id, content } of edits) {
    const home = homes.get(id);
    if (home !== undefined && home.key !== keyOf(content)) sets.get(home.key)?.records.delete(id);
  }
  for (const edit of edits) putIn(sets, edit, homes.get(edit.id)?.record, now);
  const after = [...sets.values()].map(closeSet);
  const faults = checkWrite(
    view,
    after.filter((set) => set.records.length > 0),
  );
  if (faults.length > 0) return { kind: "refused", faults: blame(faults, edits, after) };
  return { kind: "done", wanted: after, placed: edits.map((edit) => placeOf(view, edit, sets)) };
}

type Home = { readonly key: string; readonly record: ZoneRecord };

/** A set while it is edited: its records by their ids, in their order. */
type OpenSet = { readonly set: RRset; ttl: number | null; readonly records: Map<string, ZoneRecord> };

const keyOf = ({ owner, type }: Pick<RRset, "owner" | "type">): string => setKey(owner, type);

const openSet = (set: RRset): OpenSet => ({
  set,
  ttl: set.ttl,
  records: new Map(set.records.map((record) => [record.id, record])),
});

const closeSet = ({ set, ttl, records }: OpenSet): RRset => ({ ...set, ttl, records: [...records.values()] });

const homesOf = (sets: readonly RRset[]): ReadonlyMap<string, Home> =>
  new Map(sets.flatMap((set) => set.records.map((record) => [record.id, { key: keyOf(set), record }])));

/** A new record without a TTL leaves that of its set; a replaced one clears it, as one PUT does. */
function putIn(sets: Map<string, OpenSet>, { id, content }: Edit, old: ZoneRecord | undefined, now: Instant): void {
  const { owner, type, name, value, rdata } = content;
  const key = keyOf(content);
  const open = sets.get(key) ?? openSet({ owner, type, ttl: null, records: [] });
  sets.set(key, open);
  const same = old !== undefined && old.name === name && old.value === value && old.rdata === rdata;
  const { comment, created } = old ?? { comment: "", created: now };
  open.records.set(id, same ? old : { id, name, value, rdata, comment, created, modified: now });
  open.ttl = content.ttl ?? (old === undefined ? open.ttl : null);
}

function placeOf(view: WriteView, { id, content }: Edit, sets: ReadonlyMap<string, OpenSet>): PlacedRecord {
  const open = sets.get(keyOf(content));
  const record = open?.records.get(id);
  if (open === undefined || record === undefined) throw new Error("an edited record is in none of the sets");
  return { zone: view.zone, owner: content.owner, type: content.type, ttl: open.ttl, record };
}

/** Which edits a fault comes from: those of a value that is there twice; else all at its name; else all. */
function blame(
  faults: readonly Fault[],
  edits: readonly Edit[],
  after: readonly RRset[],
): ReadonlyMap<number, readonly Fault[]> {
  const kinds = Map.groupBy(new Map(faults.map((fault) => [`${fault.where} ${fault.code}`, fault])).values(), ownerIn);
  const twice = new Map(after.map((set) => [keyOf(set), valuesTwice(set)]));
  const blamed = new Map<number, readonly Fault[]>();
  for (const [i, { content }] of edits.entries()) {
    const key = keyOf(content);
    const own = (kinds.get(content.owner) ?? []).filter(
      (fault) => fault.code !== "duplicate-value" || (fault.where === key && twice.get(key)?.has(content.rdata)),
    );
    const all = [...own, ...(kinds.get(undefined) ?? [])];
    if (all.length > 0) blamed.set(i, all);
  }
  return blamed.size > 0 ? blamed : new Map(edits.map((_, i) => [i, faults]));
}

/** Of a fault whose place is the key of a set. */
const ownerIn = ({ where }: Fault): string | undefined =>
  where.includes(" ") ? where.slice(0, where.lastIndexOf(" ")) : undefined;

function valuesTwice(set: RRset): ReadonlySet<string> {
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const { rdata } of set.records) (seen.has(rdata) ? twice : seen).add(rdata);
  return twice;
}
