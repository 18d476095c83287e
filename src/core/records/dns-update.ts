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
  const wanted = new Map<string, Set<string>>();
  for (const each of prerequisites) {
    const unmet = each.kind === "set-is" ? undefined : unmetAlone(sets, each);
    if (unmet !== undefined) return unmet;
    if (each.kind !== "set-is") continue;
    const key = setKey(each.owner, each.type);
    wanted.set(key, (wanted.get(key) ?? new Set()).add(each.rdata));
  }
  for (const [key, values] of wanted) {
    const set = sets.find(({ owner, type }) => setKey(owner, type) === key);
    const same = set?.records.length === values.size && set.records.every((record) => values.has(record.rdata));
    if (!same) return "set-missing";
  }
  return undefined;
}

function unmetAlone(sets: readonly RRset[], each: Exclude<Prerequisite, { kind: "set-is" }>): Unmet | undefined {
  const named = sets.filter((set) => set.owner === each.owner);
  const found = "type" in each && named.some((set) => set.type === each.type);
  switch (each.kind) {
    case "name-in-use":
      return named.length === 0 ? "name-missing" : undefined;
    case "name-not-in-use":
      return named.length > 0 ? "name-exists" : undefined;
    case "set-exists":
      return found ? undefined : "set-missing";
    case "set-absent":
      return found ? "set-exists" : undefined;
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
  const result = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  for (const [i, update] of updates.entries()) {
    if (update.kind === "add") add(result, update, context, context.ids[i] ?? "");
    else remove(result, update);
  }
  return [...result.values()];
}

type Sets = Map<string, RRset>;

function add(sets: Sets, update: RecordUpdate & { kind: "add" }, { zoneTtl, now }: UpdateContext, id: string): void {
  const { owner, type, rdata } = update;
  const key = setKey(owner, type);
  const set = sets.get(key);
  if (type === "SOA" && !isNewerSoa(set, update)) return;
  if (inTheWay(sets, owner, type)) return;
  const ttl = update.ttl === zoneTtl && (set?.ttl ?? null) === null ? null : update.ttl;
  const added: ZoneRecord = { id, name: owner, value: rdata, rdata, comment: "", created: now, modified: now };
  const [only] = set?.records ?? [];
  const single = type === "SOA" || type === "CNAME" || type === dname;
  if (set !== undefined && single && only !== undefined && only.rdata !== rdata) {
    sets.set(key, { ...set, ttl, records: [{ ...only, value: rdata, rdata, modified: now }] });
  } else if (set?.records.some((record) => record.rdata === rdata)) {
    sets.set(key, { ...set, ttl });
  } else {
    sets.set(key, { ...(set ?? { owner, type }), ttl, records: [...(set?.records ?? []), added] });
  }
}

function remove(sets: Sets, update: Exclude<RecordUpdate, { kind: "add" }>): void {
  const { owner } = update;
  for (const [key, set] of sets) {
    if (set.owner !== owner || (update.kind !== "delete-name" && set.type !== update.type)) continue;
    const kept = owner === apex && (set.type === "SOA" || set.type === "NS");
    if (update.kind !== "delete-record") {
      if (!kept) sets.delete(key);
      continue;
    }
    const records = set.records.filter((record) => record.rdata !== update.rdata);
    // The zone keeps its SOA and the last of its nameservers (section 3.4.2.4).
    if (kept && records.length === 0) continue;
    if (records.length === 0) sets.delete(key);
    else if (records.length < set.records.length) sets.set(key, { ...set, records });
  }
}

/** Section 3.4.2.2: an SOA record is accepted only if there is one already and the serial is newer. */
function isNewerSoa(set: RRset | undefined, { owner, rdata }: { owner: string; rdata: string }): boolean {
  const old = set?.records[0];
  return owner === apex && old !== undefined && compareSerials(serialOf(rdata), serialOf(old.rdata)) === 1;
}

/** A CNAME is not added where other records exist, nor the other way round (section 3.4.2.2). */
function inTheWay(sets: Sets, owner: string, type: RecordType): boolean {
  for (const set of sets.values()) {
    if (set.owner === owner && (type === "CNAME") !== (set.type === "CNAME")) return true;
  }
  return false;
}
