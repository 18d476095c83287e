import { lowestTtl, mostFileRecords } from "../../../contract/rrsets-limits.ts";
import { parseAddress } from "../../../core/addresses/address.ts";
import { primaryFaults } from "../../../core/addresses/primary-address.ts";
import { enclosing, parseName, parseZoneName } from "../../../core/names/name.ts";
import type { Reserved } from "../../../core/names/zone-neighbours.ts";
import { checkEdit, checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { checkingZone } from "../../../core/records/check-zone.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { nextSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { lowTtls } from "../../../core/zone-file/low-ttls.ts";
import { parsingZoneFile } from "../../../core/zone-file/parse.ts";
import type { Turns } from "../../../lib/limits/turns.ts";
import {
  type Action,
  operatorAccount,
  type PrimaryServer,
  type Zone,
  type ZoneKey,
  type ZoneSettings,
} from "../../model.ts";
import { newRecordIds, newZoneId } from "../../new-id.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { allZones, pageOfZones } from "../../queries/all-zones.ts";
import {
  type Actor,
  type AnyZoneKey,
  denied,
  missing,
  type NotDone,
  refused,
  type Sight,
} from "../../queries/sight.ts";
import { zoneStatuses } from "../../queries/status.ts";
import type { Page, ZoneQuery } from "../../store/port.ts";
import type { Asked, Done, NewZoneDraft, ServerDraft, Written } from "../requests.ts";
import { keyTaken, withZone, writtenIn } from "../write.ts";
import {
  actCreateZoneRule,
  createZoneRule,
  deleteZoneRule,
  firstSets,
  importedSets,
  setsFromDrafts,
} from "./create-delete.ts";
import { type ChangeSettings, patch } from "./settings.ts";
import { reservedName, zoneNotCreated } from "./zone-names.ts";

type CreatedZone = { readonly kind: "done"; readonly zone: Zone; readonly action: Action | undefined } | NotDone;

const defaultTtl = 3_600;

/** Operations on zones, for all faces. */
export function zoneOperations(
  options: RecordServiceOptions,
  sight: Sight,
  turns: Turns,
  changeSettings: ChangeSettings,
) {
  const { store, now, allowedPrimaries = [] } = options;

  /** The operator's own zone holds the name of the service. */
  const reservedFor = async (account: number, name: string): Promise<Reserved | undefined> => {
    const reserved = await reservedName(name, options);
    if (reserved !== "service-name") return reserved;
    return account === (await store.ensureAccount(operatorAccount, now())).id ? undefined : reserved;
  };

  const faultsOf = (servers: readonly ServerDraft[]): readonly Fault[] =>
    servers.flatMap(({ address: text }, i) => {
      const address = parseAddress(text);
      return address ? primaryFaults(address, `primary_nameservers[${i}].address`, allowedPrimaries) : [];
    });

  const keptZones = async (
    account: number,
    { order, page, perPage, ...filter }: ZoneQuery,
    keep: (zone: Zone) => boolean,
  ) => {
    const kept: Zone[] = [];
    for await (const zone of allZones(store, account, filter, () => turns.next(account)))
      if (keep(zone)) kept.push(zone);
    return kept;
  };

  return {
    zone: sight.zone,
    openZone: sight.openZone,
    zoneStatuses: (zones: readonly Zone[]) => zoneStatuses(store, zones, now()),

    /** `keep` filters the zones that the query finds and the actor may see. */
    zones: async (actor: Actor, query: ZoneQuery, keep?: (zone: Zone) => boolean): Promise<Page<Zone>> => {
      const { zones: within } = actor.scope;
      const seen = within === undefined ? query : { ...query, within };
      const page = keep
        ? pageOfZones(await keptZones(actor.account, seen, keep), query)
        : await store.zones(actor.account, seen);
      return { ...page, items: await Promise.all(page.items.map((zone) => sight.asSeen(actor, zone))) };
    },

    /** The account's zone that contains a name: the closest enclosing zone among those that the actor may see. */
    zoneOwning: async (actor: Actor, text: string): Promise<Zone | undefined> => {
      const name = parseName(text);
      if (!name.ok) return undefined;
      const within = enclosing(name.value).filter((zone) => sight.allows(actor, { kind: "read-zone", zone }));
      if (within.length === 0) return undefined;
      const { items } = await store.zones(actor.account, { within, page: 1, perPage: within.length });
      const closest = items.toSorted((a, b) => b.name.length - a.name.length)[0];
      return closest && (await sight.zone(actor, closest));
    },

    /** `asked`: set by an API that stores actions; without it none is stored. */
    createZone: async (actor: Actor, draft: NewZoneDraft, asked?: Asked): Promise<CreatedZone> => {
      const name = parseZoneName(draft.name);
      if (!name.ok) return refused(name.faults);
      const refusal = sight.refusal(actor, { kind: "create-zone", zone: name.value });
      if (refusal) return denied(refusal);
      const { mode = "primary", labels = {}, locked = false, primaries = [] } = draft;
      const created = now();
      const serial = nextSerial(0, created);
      const first = await turns.run(actor.account, readingContent(draft, name.value, { serial, now: created }));
      if ("kind" in first) return first;
      const isServed = mode === "primary" && draft.content !== undefined;
      const sets = [...firstSets(first.sets, options, isServed, { serial, now: created }), ...first.sets];
      const faults = [
        ...faultsOf(primaries),
        ...(await turns.run(actor.account, checkingFirst(sets, draft, options.mostValues))),
      ];
      if (faults.length > 0) return refused(faults);
      const settings = {
        ttl: draft.ttl ?? first.ttl ?? defaultTtl,
        mode,
        labels,
        locked,
        primaries: mode === "secondary" ? serversFrom(primaries, created) : [],
      };
      const reserved = await reservedFor(actor.account, name.value);
      const identity = { account: actor.account, id: newZoneId(), name: name.value, reserved };
      const zone = { ...identity, settings, serial, created, sets };
      const act = asked && { command: "create_zone", actor: actor.label, now: created, ...asked };
      const command = { actor, zone, parts: sets.length };
      const made = act
        ? await store.run({ kind: "act-create-zone", ...command, act }, actCreateZoneRule)
        : await store.run({ kind: "create-zone", ...command }, createZoneRule);
      if (made === "key-taken") return refused([keyTaken]);
      if (typeof made === "string") return refused([zoneNotCreated(name.value, made)]);
      return "result" in made
        ? { kind: "done", zone: made.result, action: made.action }
        : { kind: "done", zone: made, action: undefined };
    },

    /** `asked` as in `createZone`. */
    deleteZone: async (actor: Actor, key: AnyZoneKey, asked?: Asked): Promise<Written> => {
      const at = await sight.keyForWriting(actor, key);
      if (at === undefined) return missing("zone");
      const by = { actor, at, isAction: asked !== undefined, now: now(), ...asked };
      return writtenIn<Done>(await store.run({ kind: "delete-zone", ...by }, deleteZoneRule));
    },

    labelZone: async (actor: Actor, key: ZoneKey, labels: ZoneSettings["labels"] | undefined) => {
      return await withZone(
        sight,
        actor,
        key,
        await changeSettings(actor, key, patch(labels === undefined ? {} : { labels })),
      );
    },

    changeZoneTtl: (actor: Actor, key: ZoneKey, ttl: number, asked?: Asked) =>
      changeSettings(actor, key, patch({ ttl }), { action: "change_ttl", ...asked }),

    lockZone: (actor: Actor, key: ZoneKey, locked: boolean | undefined, asked?: Asked) =>
      changeSettings(actor, key, patch(locked === undefined ? {} : { locked }), {
        action: "change_protection",
        ...asked,
      }),

    changePrimaries: (actor: Actor, key: ZoneKey, servers: readonly ServerDraft[], asked?: Asked) => {
      const edit = { kind: "servers", primaries: serversFrom(servers, now()), faults: faultsOf(servers) } as const;
      return changeSettings(actor, key, edit, { action: "change_primary_nameservers", ...asked });
    },

    /** The name must be the current one, because zones cannot be renamed. Without a TTL the zone keeps its own. */
    changeZone: async (
      actor: Actor,
      key: AnyZoneKey,
      { name, ttl }: { readonly name: string; readonly ttl?: number | null },
    ) =>
      await withZone(sight, actor, key, await changeSettings(actor, key, { kind: "ttl", name, ttl: ttl ?? undefined })),
  };
}

type Content = { readonly sets: readonly RRset[]; readonly ttl: number | undefined };

function* readingContent(
  draft: NewZoneDraft,
  zoneName: string,
  at: { readonly serial: number; readonly now: number },
): Steps<Content | NotDone> {
  const nothing: Content = { sets: [], ttl: undefined };
  if (draft.mode === "secondary" || draft.content === undefined) return nothing;
  if (draft.content.kind === "sets") {
    const sets = setsFromDrafts(draft.content.sets, zoneName, at);
    return sets.ok ? { ...nothing, sets: sets.value } : refused(sets.faults);
  }
  const file = yield* parsingZoneFile(draft.content.text, zoneName, mostFileRecords);
  if (!file.ok) return refused(file.faults);
  const faults = [...lowTtls(file.value, lowestTtl), ...(yield* findingClashes(file.value.sets))];
  if (faults.length > 0) return refused(faults);
  const stamp = { now: at.now, newId: newRecordIds() };
  const sets = yield* importedSets({ zone: { serial: at.serial }, sets: [] }, file.value, stamp);
  return { sets, ttl: file.value.ttl };
}

function* checkingFirst(
  sets: readonly RRset[],
  { content }: NewZoneDraft,
  mostValues: number | undefined,
): Steps<readonly Fault[]> {
  const edited = content?.kind === "sets" ? checkEdit([], sets, mostValues) : [];
  return [...(yield* checkingZone(sets)), ...(yield* checkingNewSets([], sets)), ...edited];
}

const serversFrom = (drafts: readonly ServerDraft[], now: number): readonly PrimaryServer[] =>
  drafts.map((draft) => ({ id: newZoneId(), ...draft, created: now, modified: now }));
