import type { Instant } from "../instant.ts";
import { apex } from "../names/name.ts";
import type { RecordType } from "../rdata/table.ts";
import { dname } from "./dname.ts";
import { type RRset, setKey, type ZoneRecord } from "./rrset.ts";
import { compareSerials, serialOf } from "./serial.ts";

/** The rules of DNS UPDATE (RFC 2136) on record sets. */

type SetName = { readonly owner: string; readonly type: RecordType };

/** Section 2.4: conditions for the update. */
export type Prerequisite =
  | { readonly kind: "name-in-use" | "name-not-in-use"; readonly owner: string }
  | ({ readonly kind: "set-exists" | "set-absent" } & SetName)
  /** One value of a set; the values given for a set must be exactly those that it has. */
  | ({ readonly kind: "set-is"; readonly rdata: string } & SetName);

/** Section 2.5. */
export type RecordUpdate =
  | ({ readonly kind: "add"; readonly ttl: number; readonly rdata: string } & SetName)
  | ({ readonly kind: "delete-set" } & SetName)
  | { readonly kind: "delete-name"; readonly owner: string }
  | ({ readonly kind: "delete-record"; readonly rdata: string } & SetName);

export type Unmet = "name-exists" | "name-missing" | "set-exists" | "set-missing";

/** The first prerequisite that does not hold, in the order of section 3.2. */
export function unmetPrerequisite(sets: readonly RRset[], prerequisites: readonly Prerequisite[]): Unmet | undefined {
  const names = byOwner(sets);
  const wanted = new Map<string, SetName & { readonly values: Set<string> }>();
  for (const each of prerequisites) {
    if (each.kind === "set-is") {
      const { owner, type, rdata } = each;
      const key = setKey(owner, type);
      const { values } = wanted.get(key) ?? { values: new Set() };
      wanted.set(key, { owner, type, values: values.add(rdata) });
      continue;
    }
    const unmet = unmetAlone(names.get(each.owner), each);
    if (unmet !== undefined) return unmet;
  }
  for (const { owner, type, values } of wanted.values()) {
    const records = names.get(owner)?.get(type)?.records;
    const same = records?.length === values.size && records.every(({ rdata }) => values.has(rdata));
    if (!same) return "set-missing";
  }
  return undefined;
}

/** A message may name thousands of sets: none of them is searched for among the others. */
function byOwner(sets: readonly RRset[]): ReadonlyMap<string, ReadonlyMap<RecordType, RRset>> {
  const names = new Map<string, Map<RecordType, RRset>>();
  for (const set of sets) {
    const own = names.get(set.owner);
    if (own) own.set(set.type, set);
    else names.set(set.owner, new Map([[set.type, set]]));
  }
  return names;
}

function unmetAlone(
  own: ReadonlyMap<RecordType, RRset> | undefined,
  each: Exclude<Prerequisite, { kind: "set-is" }>,
): Unmet | undefined {
  const hasType = "type" in each && own?.has(each.type) === true;
  switch (each.kind) {
    case "name-in-use":
      return own === undefined ? "name-missing" : undefined;
    case "name-not-in-use":
      return own === undefined ? undefined : "name-exists";
    case "set-exists":
      return hasType ? undefined : "set-missing";
    case "set-absent":
      return hasType ? "set-exists" : undefined;
  }
}

export type UpdateContext = {
  /** For sets without their own TTL. */
  readonly zoneTtl: number;
  readonly now: Instant;
  /** Ids for new records, one per update. */
  readonly ids: readonly string[];
};

/**
 * The sets after all updates, one after another (section 3.4.2). Updates that the rules forbid are silently ignored.
 */
export function updatedSets(
  sets: readonly RRset[],
  updates: readonly RecordUpdate[],
  context: UpdateContext,
): readonly RRset[] {
  const names = new Map([...byOwner(sets)].map(([owner, own]) => [owner, draftsOf(own)]));
  for (const [i, update] of updates.entries()) {
    const own: Drafts = names.get(update.owner) ?? new Map();
    names.set(update.owner, own);
    if (update.kind === "add") add(own, update, context, context.ids[i] ?? "");
    else remove(own, update);
  }
  return [...names.values()].flatMap((own) => [...own.values()].map(toSet));
}

/** The sets of one name. */
type Drafts = Map<RecordType, Draft>;

/** A set while it changes. `records`: by their data; undefined until one may be added or removed. */
type Draft = { readonly set: RRset; records?: Map<string, ZoneRecord> };

const draftsOf = (own: ReadonlyMap<RecordType, RRset>): Drafts =>
  new Map(Array.from(own, ([type, set]) => [type, { set }]));

const toSet = ({ set, records }: Draft): RRset =>
  records === undefined ? set : { ...set, records: [...records.values()] };

function recordsOf(draft: Draft): Map<string, ZoneRecord> {
  draft.records ??= new Map(draft.set.records.map((record) => [record.rdata, record]));
  return draft.records;
}

function add(own: Drafts, update: RecordUpdate & { kind: "add" }, { zoneTtl, now }: UpdateContext, id: string): void {
  const { owner, type, rdata } = update;
  const draft = own.get(type);
  const records = draft ? recordsOf(draft) : new Map<string, ZoneRecord>();
  const [only] = records.values();
  if (type === "SOA" && !isNewerSoa(only, update)) return;
  if (isInTheWay(own, type)) return;
  const ttl = update.ttl === zoneTtl && (draft?.set.ttl ?? null) === null ? null : update.ttl;
  const single = type === "SOA" || type === "CNAME" || type === dname;
  if (single && only !== undefined && only.rdata !== rdata) {
    records.delete(only.rdata);
    records.set(rdata, { ...only, value: rdata, rdata, modified: now });
  } else if (!records.has(rdata)) {
    records.set(rdata, { id, name: owner, value: rdata, rdata, comment: "", created: now, modified: now });
  }
  own.set(type, { set: { ...(draft?.set ?? { owner, type, records: [] }), ttl }, records });
}

function remove(own: Drafts, update: Exclude<RecordUpdate, { kind: "add" }>): void {
  for (const type of update.kind === "delete-name" ? [...own.keys()] : [update.type]) {
    const draft = own.get(type);
    if (draft === undefined) continue;
    const kept = update.owner === apex && (type === "SOA" || type === "NS");
    if (update.kind !== "delete-record") {
      if (!kept) own.delete(type);
      continue;
    }
    const records = recordsOf(draft);
    // The zone keeps its SOA and the last of its nameservers (section 3.4.2.4).
    if (kept && records.size === 1) continue;
    records.delete(update.rdata);
    if (records.size === 0) own.delete(type);
  }
}

/** Section 3.4.2.2: an SOA record is accepted only if there is one already and the serial is newer. */
function isNewerSoa(old: ZoneRecord | undefined, { owner, rdata }: { owner: string; rdata: string }): boolean {
  return owner === apex && old !== undefined && compareSerials(serialOf(rdata), serialOf(old.rdata)) === 1;
}

/** A CNAME is not added where other records exist, nor the other way round (section 3.4.2.2). */
const isInTheWay = (own: Drafts, type: RecordType): boolean =>
  type === "CNAME" ? [...own.keys()].some((other) => other !== "CNAME") : own.has("CNAME");
