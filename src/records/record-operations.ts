import { parseOwner } from "../core/name.ts";
import { parseRdata } from "../core/rdata/rdata.ts";
import { isRecordType, type RecordType } from "../core/rdata/table.ts";
import { fail, ok, type Result } from "../core/result.ts";
import type { RRset } from "../core/rrset.ts";
import { type Actor, denied, missing, type NotDone, placeOf, refused, type Sight } from "./actor.ts";
import { createRecord, deleteRecord, holds, type RecordContent, replaceRecord } from "./edit-record.ts";
import { newRecordId } from "./new-id.ts";
import type { RecordServiceOptions } from "./service-options.ts";
import type { PlacedRecord, RecordStore, Zone } from "./store.ts";

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
  const writeRefusal = (actor: Actor, zone: Zone, { owner, type }: { owner: string; type: RecordType }) =>
    sight.refusal(actor, { kind: "write-set", zone: zone.name, owner, type });

  /** What stands in the way of changing a record: it is not there for this actor, is the SOA, or may not be written. */
  const obstacle = (actor: Actor, zone: Zone, set: RRset | undefined): NotDone | undefined => {
    if (set === undefined || !sight.allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) })) {
      return missing("record");
    }
    if (set.type === "SOA") return refused([soaStays]);
    const refusal = writeRefusal(actor, zone, set);
    return refusal && denied(refusal);
  };

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
      const [at, id] = [now(), newRecordId()];
      const request = {
        account: actor.account,
        at: { zone: zoneId },
        owners: ownersOf(draft),
        actor: actor.label,
        now: at,
      };
      const outcome = await store.write<Written>(request, (view) => {
        if (!sight.allows(actor, { kind: "read-zone", zone: view.zone.name })) return leave(missing("zone"));
        const content = readDraft(draft, view.zone);
        if (!content.ok) return leave(refused(content.faults));
        const refusal = writeRefusal(actor, view.zone, content.value);
        return refusal ? leave(denied(refusal)) : createRecord(view, content.value, { id, now: at });
      });
      return outcome ?? missing("zone");
    },

    replaceRecord: async (actor: Actor, id: string, draft: RecordDraft): Promise<Written> => {
      const at = now();
      const request = {
        account: actor.account,
        at: { record: id },
        owners: ownersOf(draft),
        actor: actor.label,
        now: at,
      };
      const outcome = await store.write<Written>(request, (view) => {
        const home = view.sets.find((set) => holds(set, id));
        const inTheWay = obstacle(actor, view.zone, home);
        if (inTheWay) return leave(inTheWay);
        const content = readDraft(draft, view.zone);
        if (!content.ok) return leave(refused(content.faults));
        const refusal = writeRefusal(actor, view.zone, content.value);
        return refusal ? leave(denied(refusal)) : replaceRecord(view, content.value, { id, now: at });
      });
      return outcome ?? missing("record");
    },

    deleteRecord: async (actor: Actor, id: string): Promise<{ kind: "done" } | NotDone> => {
      const request = { account: actor.account, at: { record: id }, owners: () => [], actor: actor.label, now: now() };
      const outcome = await store.write<{ kind: "done" } | NotDone>(request, (view) => {
        const home = view.sets.find((set) => holds(set, id));
        const inTheWay = obstacle(actor, view.zone, home);
        return inTheWay ? leave(inTheWay) : deleteRecord(view, id);
      });
      return outcome ?? missing("record");
    },
  };
}

const leave = <T>(result: T) => ({ wanted: undefined, result });

/** The owner that a draft means; one that cannot be read is refused by the rule, which needs no sets for that. */
const ownersOf =
  (draft: RecordDraft) =>
  (zone: Zone): readonly string[] => {
    const owner = parseOwner(draft.name, zone.name);
    return owner.ok ? [owner.value] : [];
  };

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
