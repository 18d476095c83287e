import { parseOwner } from "../core/name.ts";
import { parseRdata } from "../core/rdata/rdata.ts";
import { isRecordType, type RecordType } from "../core/rdata/table.ts";
import { fail, ok, type Result } from "../core/result.ts";
import { type Actor, denied, missing, type NotDone, placeOf, refused, type Sight } from "./actor.ts";
import { createRecord, deleteRecord, type RecordContent, replaceRecord } from "./edit-record.ts";
import { newRecordId } from "./new-id.ts";
import type { RecordServiceOptions } from "./service-options.ts";
import type { Decide, PlacedRecord, RecordStore, Zone } from "./store.ts";

export type RecordDraft = {
  readonly type: RecordType;
  /** As sent; given back so. */
  readonly name: string;
  readonly value: string;
  /** What the value means, in the syntax of zone files. */
  readonly text: string;
  /** Undefined: not said. */
  readonly ttl: number | undefined;
};

export type RecordsQuery = { readonly zone?: string; readonly name?: string; readonly type?: string };

type Written = { readonly kind: "done"; readonly placed: PlacedRecord } | NotDone;

export function recordOperations({ store, now }: RecordServiceOptions, sight: Sight) {
  const write = async <T>(actor: Actor, zone: Zone, owners: readonly string[], decide: Decide<T>) =>
    await store.write({ account: actor.account, zone: zone.id, owners, actor: actor.label, now: now() }, decide);

  const writeRefusal = (actor: Actor, zone: Zone, { owner, type }: { owner: string; type: RecordType }) =>
    sight.refusal(actor, { kind: "write-set", zone: zone.name, owner, type });

  return {
    record: sight.record,

    /** The records that the actor may see; `missing` when a zone is asked for and is not there. */
    records: async (actor: Actor, query: RecordsQuery) => {
      const zones = await zonesAsked(store, sight, actor, query.zone);
      if (zones === undefined) return missing("zone");
      const found = await Promise.all(zones.map((zone) => recordsOf(store, zone, query)));
      const records = found.flat().filter((placed) => sight.allows(actor, { kind: "read-set", ...placeOf(placed) }));
      return { kind: "done" as const, records };
    },

    createRecord: async (actor: Actor, zoneId: string, draft: RecordDraft): Promise<Written> => {
      const zone = await sight.zone(actor, zoneId);
      if (zone === undefined) return missing("zone");
      const content = readDraft(draft, zone);
      if (!content.ok) return refused(content.faults);
      const refusal = writeRefusal(actor, zone, content.value);
      if (refusal) return denied(refusal);
      const decide = createRecord(content.value, newRecordId(), now());
      return (await write(actor, zone, [content.value.owner], decide)) ?? missing("zone");
    },

    replaceRecord: async (actor: Actor, id: string, draft: RecordDraft): Promise<Written> =>
      untilSettled(async () => {
        const old = await sight.record(actor, id);
        if (old === undefined) return missing("record");
        if (old.type === "SOA") return refused([soaStays]);
        const content = readDraft(draft, old.zone);
        if (!content.ok) return refused(content.faults);
        const refusal = writeRefusal(actor, old.zone, old) ?? writeRefusal(actor, old.zone, content.value);
        if (refusal) return denied(refusal);
        const owners = [old.owner, content.value.owner];
        return (await write(actor, old.zone, owners, replaceRecord(content.value, id, now()))) ?? missing("record");
      }),

    deleteRecord: async (actor: Actor, id: string): Promise<{ kind: "done" } | NotDone> =>
      untilSettled(async () => {
        const old = await sight.record(actor, id);
        if (old === undefined) return missing("record");
        if (old.type === "SOA") return refused([soaStays]);
        const refusal = writeRefusal(actor, old.zone, old);
        if (refusal) return denied(refusal);
        return (await write(actor, old.zone, [old.owner], deleteRecord(id))) ?? missing("record");
      }),
  };
}

/**
 * A record is found first and then written in the sets of its owner. When another writer has renamed it in between, it is
 * not in those sets: then it is looked for again.
 */
async function untilSettled<T extends { readonly kind: string }>(attempt: () => Promise<T>): Promise<T> {
  const outcome = await attempt();
  return outcome.kind === "missing" ? await attempt() : outcome;
}

const soaStays = {
  code: "soa-stays",
  where: "type",
  message: "the SOA record comes and goes with its zone",
  todo: "delete the zone instead",
};

/** Name and value at once, so that every fault is told. */
function readDraft(draft: RecordDraft, zone: Zone): Result<RecordContent> {
  const owner = parseOwner(draft.name, zone.name);
  const rdata = parseRdata(draft.type, draft.text, zone.name);
  if (!owner.ok || !rdata.ok) return fail(...(owner.ok ? [] : owner.faults), ...(rdata.ok ? [] : rdata.faults));
  const { type, name, value, ttl } = draft;
  return ok({ owner: owner.value, type, ttl, name, value, rdata: rdata.value.text });
}

async function zonesAsked(
  store: RecordStore,
  sight: Sight,
  actor: Actor,
  id: string | undefined,
): Promise<readonly Zone[] | undefined> {
  if (id !== undefined) {
    const zone = await sight.zone(actor, id);
    return zone && [zone];
  }
  const { items } = await store.zones(actor.account, { page: 1, perPage: Number.MAX_SAFE_INTEGER });
  return items.filter((zone) => sight.allows(actor, { kind: "read-zone", zone: zone.name }));
}

/** A name is looked up as the owner that it means; one that cannot be an owner of this zone has no records there. */
async function recordsOf(
  store: RecordStore,
  zone: Zone,
  { name, type }: RecordsQuery,
): Promise<readonly PlacedRecord[]> {
  if (type !== undefined && !isRecordType(type)) return [];
  const owner = name === undefined ? undefined : parseOwner(name, zone.name);
  if (owner && !owner.ok) return [];
  const sets = await store.sets(zone, { ...(owner && { owner: owner.value }), ...(type && { type }) });
  return sets.flatMap((set) =>
    set.records.map((record) => ({ zone, owner: set.owner, type: set.type, ttl: set.ttl, record })),
  );
}
