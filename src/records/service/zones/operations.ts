import type { Instant } from "../../../core/instant.ts";
import { apex, parseZoneName } from "../../../core/names/name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { nextSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import { plainSettings, type Zone } from "../../model.ts";
import type { Page, WriteView, ZoneQuery } from "../../store/port.ts";
import { zoneNotCreated } from "../../zone-names/refused-zone.ts";
import { reservedName } from "../../zone-names/reserved-names.ts";
import { newRecordId, newZoneId } from "../edit/new-id.ts";
import type { Publisher, RecordServiceOptions } from "../options.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "../sight.ts";

export type ZoneDraft = { readonly name: string; readonly ttl: number | undefined };

const defaultTtl = 86_400;

export function zoneOperations(options: RecordServiceOptions, sight: Sight) {
  const { store, now } = options;
  return {
    zone: sight.zone,

    zones: async (actor: Actor, query: ZoneQuery): Promise<Page<Zone>> => {
      if (!sight.allows(actor, { kind: "list-zones" })) return { items: [], total: 0 };
      const { zones } = actor.scope;
      const page = await store.zones(actor.account, zones === undefined ? query : { ...query, within: zones });
      if (actor.scope.sets === undefined) return page;
      return { ...page, items: await Promise.all(page.items.map((zone) => sight.asSeen(actor, zone))) };
    },

    createZone: async (actor: Actor, draft: ZoneDraft): Promise<{ kind: "done"; zone: Zone } | NotDone> => {
      const name = parseZoneName(draft.name);
      if (!name.ok) return refused(name.faults);
      const refusal = sight.refusal(actor, { kind: "create-zone", zone: name.value });
      if (refusal) return denied(refusal);
      const reserved = await reservedName(name.value, options.nameservers);
      const created = now();
      const serial = nextSerial(0, created);
      const sets = [firstSoa(options, serial, created)];
      const identity = { account: actor.account, id: newZoneId(), name: name.value, reserved };
      const zone = await store.createZone(
        { ...identity, settings: plainSettings(draft.ttl ?? defaultTtl), serial, created, sets },
        actor.label,
      );
      return typeof zone === "string" ? refused([zoneNotCreated(name.value, zone)]) : { kind: "done", zone };
    },

    deleteZone: async (actor: Actor, id: string): Promise<{ kind: "done" } | NotDone> => {
      const zone = await sight.zone(actor, id);
      if (zone === undefined) return missing("zone");
      const at = { number: zone.number };
      const request = { account: actor.account, at, owners: "all", actor: actor.label, now: now() } as const;
      const acted = await store.act<{ kind: "done" } | NotDone>(request, (view) => {
        const obstacle = removalObstacle(sight, actor, view);
        if (obstacle) return { wanted: undefined, result: obstacle };
        return { wanted: undefined, remove: true, result: { kind: "done" } };
      });
      return typeof acted === "string" ? missing("zone") : acted.result;
    },
  };
}

/** Why this actor cannot delete the zone. A protected set stands in the way of all that would take it away. */
export function removalObstacle(sight: Sight, actor: Actor, { zone, sets }: WriteView): NotDone | undefined {
  if (!sight.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
  const refusal = sight.refusal(actor, { kind: "delete-zone", zone: zone.name });
  if (refusal) return denied(refusal);
  if (zone.settings.locked) return refused([zoneLocked(zone.name)]);
  return sets.some((set) => set.locked) ? refused([setsLocked]) : undefined;
}

/** The only record of a new zone. The timers are those that existing zones of the v1 API have. */
export function firstSoa({ nameservers, hostmaster }: Publisher, serial: number, now: Instant): RRset {
  const [nameserver] = nameservers;
  const rdata = `${nameserver}. ${hostmaster ?? `hostmaster.${nameserver}`}. ${serial} 86400 10800 3600000 3600`;
  const record = { id: newRecordId(), name: apex, value: rdata, rdata, comment: "", created: now, modified: now };
  return { owner: apex, type: "SOA", ttl: null, records: [record] };
}

const zoneLocked = (name: string): Fault => ({
  code: "zone-locked",
  where: "zone",
  message: `the zone ${name} is protected against being deleted`,
  todo: "remove its protection first",
});

export const setsLocked: Fault = {
  code: "set-locked",
  where: "zone",
  message: "sets of the zone are protected against changes",
  todo: "remove their protection first",
};
