import { ownersSeen } from "../../core/may.ts";
import { parseOwner } from "../../core/names/name.ts";
import { isRecordType } from "../../core/rdata/table.ts";
import type { Fault } from "../../core/result.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { largeZone, type RecordInZone, type Zone } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { allZones } from "../queries/all-zones.ts";
import { flatMapInParts } from "../queries/flat-map-in-parts.ts";
import { pageOfRecords } from "../queries/page-of-sets.ts";
import { type Actor, missing, type NotDone, type PermittedView } from "../queries/permitted-view.ts";
import { mapInParts } from "./edit/map-in-parts.ts";
import { createRecordRule, deleteRecordRule, type RecordOutcome, replaceRecordRule } from "./edit-record.ts";
import type { DraftInZone, RecordDraft } from "./requests.ts";

export type RecordsQuery = { readonly zone?: string; readonly name?: string; readonly type?: string };

export function recordOperations(
  { store, now }: RecordServiceOptions,
  permittedView: PermittedView,
  schedule: Pick<FairSchedule, "next">,
) {
  const zonesOf = zonesSeen({ store, schedule }, permittedView);
  return {
    /** Whether the answer for a whole zone may be long. */
    isLarge: async ({ account }: Actor, zone: string): Promise<boolean> =>
      ((await store.zone(account, zone))?.recordCount ?? 0) > largeZone,

    record: permittedView.record,

    /** The records that the actor may see; `missing` if the requested zone does not exist. */
    records: async (actor: Actor, query: RecordsQuery) => {
      const zones = await zonesOf(actor, query.zone);
      if (zones === undefined) return missing("zone");
      const readsAll = query.zone === undefined && query.name === undefined && ownersSeen(actor.scope) === undefined;
      if (readsAll && sumOf(zones) > mostOfAllZones) return { kind: "refused" as const, faults: [tooManyRecords] };
      const pause = () => schedule.next(actor.account);
      const recordsByZone = await mapInParts(
        zones,
        (zone) => recordsOf(permittedView, actor, zone, query, pause),
        pause,
      );
      return { kind: "done" as const, records: recordsByZone.flat() };
    },

    /** A page of all records that the actor may see; undefined if that may be less than all of the zones. */
    recordsPage: async (actor: Actor, { page, perPage }: { readonly page: number; readonly perPage: number }) => {
      if (actor.scope.sets !== undefined) return undefined;
      const zones = (await zonesOf(actor)) ?? [];
      const range = { from: (page - 1) * perPage, to: page * perPage };
      const records = await pageOfRecords(store, zones, range, () => schedule.next(actor.account));
      return { records, total: sumOf(zones) };
    },

    createRecord: async (actor: Actor, zone: string, draft: RecordDraft): Promise<RecordOutcome> => {
      const command = {
        kind: "create-record",
        actor,
        zone,
        id: newRecordId(),
        draft,
        now: now(),
      } as const;
      return (await store.run(command, createRecordRule)) ?? missing("zone");
    },

    replaceRecord: async (actor: Actor, id: string, next: DraftInZone): Promise<RecordOutcome> => {
      const command = { kind: "replace-record", actor, id, next, now: now() } as const;
      return (await store.run(command, replaceRecordRule)) ?? missing("record");
    },

    deleteRecord: async (actor: Actor, id: string): Promise<{ kind: "done" } | NotDone> => {
      const command = { kind: "delete-record", actor, id, now: now() } as const;
      return (await store.run(command, deleteRecordRule)) ?? missing("record");
    },
  };
}

/** Records of all zones that one answer may have. Each page is read from where it begins. */
const mostOfAllZones = 50_000;

const tooManyRecords: Fault = {
  code: "too-many-records",
  where: "zone_id",
  message: `the zones have more than ${mostOfAllZones} records together, which is too much for one answer`,
  todo: "name one with zone_id, or read them in pages, with page and per_page alone",
};

const sumOf = (zones: readonly Zone[]): number => zones.reduce((sum, { recordCount }) => sum + recordCount, 0);

/** All that the actor may see, or one; undefined if that one does not exist. */
const zonesSeen =
  (tools: Parameters<typeof allZones>[0], permittedView: PermittedView) =>
  async (actor: Actor, id?: string): Promise<readonly Zone[] | undefined> => {
    const isSeen = ({ name }: Zone) => permittedView.allows(actor, { kind: "read-zone", zone: name });
    if (id === undefined) return await allZones(tools, actor, isSeen);
    const zone = await permittedView.zone(actor, { zone: id });
    return zone && [zone];
  };

/** Looks a name up as an owner; a name that cannot be an owner in this zone has no records there. */
async function recordsOf(
  permittedView: PermittedView,
  actor: Actor,
  zone: Zone,
  { name, type }: RecordsQuery,
  pause: () => Promise<void>,
): Promise<readonly RecordInZone[]> {
  if (type !== undefined && !isRecordType(type)) return [];
  const owner = name === undefined ? undefined : parseOwner(name, zone.name);
  if (owner && !owner.ok) return [];
  const sets = await permittedView.sets(actor, zone, { ...(owner && { owner: owner.value }), ...(type && { type }) });
  return await flatMapInParts(
    sets,
    (set) => set.records.map((record) => ({ zone, owner: set.owner, type: set.type, ttl: set.ttl, record })),
    pause,
  );
}
