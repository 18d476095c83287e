import { parseOwner } from "../../core/names/name.ts";
import { isRecordType } from "../../core/rdata/table.ts";
import type { Turns } from "../../process/turns.ts";
import type { PlacedRecord, Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { inParts } from "./edit/in-parts.ts";
import { newRecordId } from "./edit/new-id.ts";
import { deleteRecord, editRecord, holds } from "./edit/record.ts";
import type { RecordServiceOptions } from "./options.ts";
import { ownersOf, type PlacedDraft, type RecordDraft, type RecordRules } from "./record-rules.ts";
import { type Actor, missing, type NotDone, type Sight } from "./sight.ts";
import { noChange, writtenBy } from "./write.ts";
import { largeZone } from "./zones/read-zone.ts";

export type RecordsQuery = { readonly zone?: string; readonly name?: string; readonly type?: string };

type Written = { readonly kind: "done"; readonly placed: PlacedRecord } | NotDone;

export function recordOperations(
  { store, now }: RecordServiceOptions,
  sight: Sight,
  rules: RecordRules,
  turns: Pick<Turns, "next">,
) {
  return {
    /** Whether the answer for a whole zone, or for all zones if none is named, may be long. */
    isLarge: async ({ account }: Actor, zone: string | undefined): Promise<boolean> =>
      zone === undefined || ((await store.zone(account, zone))?.recordCount ?? 0) > largeZone,

    record: sight.record,

    /** The records that the actor may see; `missing` if the requested zone does not exist. */
    records: async (actor: Actor, query: RecordsQuery) => {
      const zones = await zonesAsked(store, sight, actor, query.zone);
      if (zones === undefined) return missing("zone");
      const found = await inParts(
        zones,
        (zone) => recordsOf(sight, actor, zone, query),
        () => turns.next(actor.account),
      );
      return { kind: "done" as const, records: found.flat() };
    },

    createRecord: async (actor: Actor, zoneId: string, draft: RecordDraft): Promise<Written> => {
      const [at, id] = [now(), newRecordId()];
      const request = { ...writtenBy(actor, at), at: { zone: zoneId }, owners: ownersOf([draft]) };
      const outcome = await store.write<Written>(request, (view) => {
        const read = rules.newContent(actor, view.zone, draft);
        return read.kind === "content" ? editRecord(view, { id, content: read.content }, at) : noChange(read);
      });
      return outcome ?? missing("zone");
    },

    replaceRecord: async (actor: Actor, id: string, next: PlacedDraft): Promise<Written> => {
      const at = now();
      const request = { ...writtenBy(actor, at), at: { record: id }, owners: ownersOf([next.draft]) };
      const outcome = await store.write<Written>(request, (view) => {
        const set = view.sets.find((set) => holds(set, id));
        const read = rules.nextContent(actor, view.zone, set, next);
        return read.kind === "content" ? editRecord(view, { id, content: read.content }, at) : noChange(read);
      });
      return outcome ?? missing("record");
    },

    deleteRecord: async (actor: Actor, id: string): Promise<{ kind: "done" } | NotDone> => {
      const request = { ...writtenBy(actor, now()), at: { record: id }, owners: () => [] };
      const outcome = await store.write<{ kind: "done" } | NotDone>(request, (view) => {
        const set = view.sets.find((set) => holds(set, id));
        const inTheWay = rules.obstacle(actor, view.zone, set);
        return inTheWay ? noChange(inTheWay) : deleteRecord(view, id);
      });
      return outcome ?? missing("record");
    },
  };
}

async function zonesAsked(
  store: RecordStore,
  sight: Sight,
  actor: Actor,
  id: string | undefined,
): Promise<readonly Zone[] | undefined> {
  if (id !== undefined) {
    const zone = await sight.zone(actor, { zone: id });
    return zone && [zone];
  }
  const { items } = await store.zones(actor.account, { page: 1, perPage: Number.MAX_SAFE_INTEGER });
  return items.filter((zone) => sight.allows(actor, { kind: "read-zone", zone: zone.name }));
}

/** Looks a name up as an owner; a name that cannot be an owner in this zone has no records there. */
async function recordsOf(
  sight: Sight,
  actor: Actor,
  zone: Zone,
  { name, type }: RecordsQuery,
): Promise<readonly PlacedRecord[]> {
  if (type !== undefined && !isRecordType(type)) return [];
  const owner = name === undefined ? undefined : parseOwner(name, zone.name);
  if (owner && !owner.ok) return [];
  const sets = await sight.sets(actor, zone, { ...(owner && { owner: owner.value }), ...(type && { type }) });
  return sets.flatMap((set) =>
    set.records.map((record) => ({ zone, owner: set.owner, type: set.type, ttl: set.ttl, record })),
  );
}
