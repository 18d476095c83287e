import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import { withSerial } from "../../../core/records/serial.ts";
import { type Fault, failAll, ok, type Result } from "../../../core/result.ts";
import { mapInSteps, type Steps } from "../../../core/steps.ts";
import type { ZoneFile } from "../../../core/zone-file/parse.ts";
import type { NewZone, Zone, ZoneKey } from "../../model.ts";
import { newRecordId, newRecordIds } from "../../new-id.ts";
import type { Publisher } from "../../options.ts";
import {
  type Actor,
  denied,
  missing,
  type NotDone,
  type Permissions,
  permissionsAt,
  refused,
} from "../../queries/permitted-view.ts";
import type { ActionRule, CreateActionRule, CreateRule, NewAction, WriteView } from "../../store/port.ts";
import { withValues } from "../edit/set.ts";
import { readSetKey, readValues } from "../edit/values.ts";
import type { Done, IdempotencyOption, SetDraft } from "../requests.ts";
import { authorOf, noChange } from "../write.ts";

type New = {
  readonly actor: Pick<Actor, "label" | "token" | "session">;
  readonly zone: NewZone;
  readonly parts: number;
  readonly isTrial?: boolean | undefined;
};
export type CreateZone = New & { readonly kind: "create-zone" };
/** Creates a zone, and records that as an action. */
export type CreateZoneAction = New & { readonly kind: "create-zone-action"; readonly action: NewAction };

/** A zone that is not created by a caller of an API. */
export const createdBy = (label: string, zone: NewZone): CreateZone => ({
  kind: "create-zone",
  actor: { label },
  zone,
  parts: zone.sets.length,
});

export const createZoneRule = ({ actor, zone }: CreateZone): CreateRule => ({
  kind: "create",
  zone,
  actor: actor.label,
});

export const createZoneActionRule = ({ zone, action }: CreateZoneAction): CreateActionRule => ({
  kind: "create-action",
  zone,
  action,
});

export type DeleteZone = IdempotencyOption & {
  readonly kind: "delete-zone";
  readonly actor: Actor;
  readonly at: ZoneKey;
  readonly isAction: boolean;
  readonly now: Instant;
};

export function deleteZoneRule(command: DeleteZone): ActionRule<Done | NotDone> {
  const { actor, at, isAction, now, idempotencyKey } = command;
  const permittedView = permissionsAt(() => now);
  return {
    kind: "action",
    request: { ...authorOf(actor, now), at, owners: "to-remove", ...(idempotencyKey && { idempotencyKey }) },
    decide: (view) => {
      const obstacle = removalObstacle(permittedView, actor, view);
      if (obstacle) return noChange(obstacle);
      return { ...noChange({ kind: "done" }), remove: true, ...(isAction && { actionName: "delete_zone" }) };
    },
  };
}

/** Why this actor cannot delete the zone. A protected set also prevents the deletion of its zone. */
function removalObstacle(permittedView: Permissions, actor: Actor, { zone, sets }: WriteView): NotDone | undefined {
  if (!permittedView.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
  const refusal = permittedView.refusal(actor, { kind: "delete-zone", zone: zone.name });
  if (refusal) return denied(refusal);
  if (zone.settings.locked) return refused([zoneLocked(zone.name)]);
  return sets.some((set) => set.locked) ? refused([setsLocked]) : undefined;
}

const zoneLocked = (name: string): Fault => ({
  code: "zone-locked",
  where: "zone",
  message: `the zone ${name} is protected against deletion`,
  todo: "remove its protection first",
});

const setsLocked: Fault = {
  code: "set-locked",
  where: "zone",
  message: "some record sets of the zone are protected against changes",
  todo: "remove their protection first",
};

type At = { readonly serial: number; readonly now: Instant };

/** Adds the SOA set of a new zone, and the NS set if it is served from here, unless they are given. */
export function firstSets(
  givenSets: readonly RRset[],
  publisher: Publisher,
  isServed: boolean,
  { serial, now }: At,
): readonly RRset[] {
  const has = (type: string) => givenSets.some((set) => set.owner === apex && set.type === type);
  const soa = has("SOA") ? [] : [firstSoa(publisher, serial, now)];
  if (!isServed || has("NS")) return soa;
  return [...soa, nameserverSet(publisher, now)];
}

export function nameserverSet({ nameservers }: Publisher, now: Instant): RRset {
  const values = nameservers.map((server) => ({ value: `${server}.`, rdata: `${server}.`, comment: "" }));
  return withValues({ owner: apex, type: "NS" }, undefined, values, { now, newId: newRecordIds() });
}

/**
 * A secondary that missed a NOTIFY asks within the hour (the v1 API has 86400 and 10800). Registries want an expire
 * time of a week or more.
 */
function firstSoa({ nameservers, hostmaster }: Publisher, serial: number, now: Instant): RRset {
  const [nameserver] = nameservers;
  const rdata = `${nameserver}. ${hostmaster ?? `hostmaster.${nameserver}`}. ${serial} 3600 300 604800 3600`;
  const record = { id: newRecordId(), name: apex, value: rdata, rdata, comment: "", created: now, modified: now };
  return { owner: apex, type: "SOA", ttl: null, records: [record] };
}

type Drafts = readonly (SetDraft & { readonly name: string; readonly type: string })[];

/** Reports all faults of all sets. */
export function setsFromDrafts(drafts: Drafts, zoneName: string, { serial, now }: At): Result<readonly RRset[]> {
  const faults: Fault[] = [];
  const sets = drafts.flatMap(({ name, type, records, ttl = null, labels, locked }, i) => {
    const where = `rrsets[${i}].`;
    const place = readSetKey(name, type, zoneName, where);
    const values = place.ok ? readValues(place.value.type, records, { name: zoneName, serial }, where) : place;
    if (!place.ok || !values.ok) {
      faults.push(...(values.ok ? [] : values.faults));
      return [];
    }
    const set = withValues(place.value, undefined, values.value, { now, newId: newRecordIds() });
    return [{ ...set, ttl, ...(labels && { labels }), ...(locked && { locked }) }];
  });
  return faults.length > 0 ? failAll(faults) : ok(sets);
}

/** The sets of a file, with the labels that it names. Records that the zone already has keep their spelling. */
export function* importedSets(
  { zone, sets }: { readonly zone: Pick<Zone, "serial">; readonly sets: readonly RRset[] },
  inFile: ZoneFile["sets"],
  { now, newId }: { readonly now: Instant; readonly newId: (i: number) => string },
): Steps<readonly RRset[]> {
  const before = new Map(yield* mapInSteps(sets, (set) => [setKey(set.owner, set.type), set] as const));
  let made = 0;
  return yield* mapInSteps(inFile, ({ owner, type, ttl, records, labels, locked }): RRset => {
    const old = before.get(setKey(owner, type));
    const spelled = new Map(old?.records.map((record) => [record.rdata, record.value]));
    const values = records.map(({ value, rdata, comment }) => {
      const soa = type === "SOA" ? withSerial(rdata, zone.serial) : undefined;
      return { value: soa ?? spelled.get(rdata) ?? value, rdata: soa ?? rdata, comment };
    });
    const first = made;
    made += values.length;
    const set = withValues({ owner, type }, old, values, { now, newId: (i) => newId(first + i) });
    return { owner, type, ttl, records: set.records, ...(labels && { labels }), ...(locked && { locked }) };
  });
}
