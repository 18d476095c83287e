import { lowestTtl } from "../../../contract/rrsets-limits.ts";
import { parseAddress } from "../../../core/addresses/address.ts";
import { primaryFaults } from "../../../core/addresses/primary-address.ts";
import { importedNameFaults, longNameFaults } from "../../../core/dnssec/check-signed-zone.ts";
import type { Instant } from "../../../core/instant.ts";
import { enclosing, parseName, parseZoneName } from "../../../core/names/name.ts";
import type { Reserved } from "../../../core/names/zone-neighbours.ts";
import { checkEdit, checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { checkingZone } from "../../../core/records/check-zone.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { nextSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { withHigherTtls } from "../../../core/zone-file/higher-ttls.ts";
import { parsingZoneFile, type ZoneFile } from "../../../core/zone-file/parse.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import {
  type Action,
  type NewZone,
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
  type PermittedView,
  refused,
} from "../../queries/permitted-view.ts";
import { zoneStatuses } from "../../queries/status.ts";
import type { Page, ZoneQuery } from "../../store/port.ts";
import type { Done, IdempotencyOption, NewZoneDraft, ServerDraft, Written } from "../requests.ts";
import { keyTaken, outcomeWithZone, toWritten } from "../write.ts";
import {
  createZoneActionRule,
  createZoneRule,
  deleteZoneRule,
  firstSets,
  importedSets,
  setsFromDrafts,
} from "./create-delete.ts";
import { withoutOwn } from "./import-file.ts";
import type { LargeFiles } from "./large-files.ts";
import { type ChangeSettings, patch } from "./settings.ts";
import { reservedName, zoneNotCreated } from "./zone-names.ts";

type CreatedZone =
  | {
      readonly kind: "done";
      readonly zone: Zone;
      readonly action: Action | undefined;
      /** What is stored differently than it is written in the file. */
      readonly notes: readonly string[];
    }
  | NotDone;

const defaultTtl = 3_600;

type WriteTools = { readonly schedule: FairSchedule; readonly files: LargeFiles };

type ZoneTools = WriteTools & { readonly options: RecordServiceOptions; readonly permittedView: PermittedView };

export const zoneOperations = (
  options: RecordServiceOptions,
  permittedView: PermittedView,
  { schedule, files }: WriteTools,
  changeSettings: ChangeSettings,
) => ({
  ...zoneReads(options, permittedView, schedule),
  ...zoneWrites({ options, permittedView, schedule, files }),
  ...settingsWrites(options, permittedView, changeSettings),
});

/** Zones as an actor sees them, for all APIs. */
const zoneReads = ({ store, now }: RecordServiceOptions, permittedView: PermittedView, schedule: FairSchedule) => ({
  zone: permittedView.zone,
  openZone: permittedView.openZone,
  zoneStatuses: (zones: readonly Zone[]) => zoneStatuses(store, zones, now()),

  /** `keep` filters the zones that the query finds and the actor may see. */
  zones: async (actor: Actor, query: ZoneQuery, keep?: (zone: Zone) => boolean): Promise<Page<Zone>> => {
    const { zones: within } = actor.scope;
    const page = keep
      ? pageOfZones(await allZones({ store, schedule }, actor, keep, query), query)
      : await store.zones(actor.account, within === undefined ? query : { ...query, within });
    return { ...page, items: await Promise.all(page.items.map((zone) => permittedView.asSeen(actor, zone))) };
  },

  /** The account's zone that contains a name: the closest enclosing zone among those that the actor may see. */
  zoneOwning: async (actor: Actor, text: string): Promise<Zone | undefined> => {
    const name = parseName(text);
    if (!name.ok) return undefined;
    const within = enclosing(name.value).filter((zone) => permittedView.allows(actor, { kind: "read-zone", zone }));
    if (within.length === 0) return undefined;
    const { items } = await store.zones(actor.account, { within, page: 1, perPage: within.length });
    const closest = items.toSorted((a, b) => b.name.length - a.name.length)[0];
    return closest && (await permittedView.zone(actor, closest));
  },
});

/** Creating and deleting zones, for all APIs. `idempotency`: set by an API that stores actions; without it, none is. */
const zoneWrites = (tools: ZoneTools) => ({
  createZone: async (actor: Actor, draft: NewZoneDraft, idempotency?: IdempotencyOption): Promise<CreatedZone> => {
    const text = draft.content?.kind === "file" ? draft.content.text : "";
    const release = await tools.files.hold(actor.account, text);
    return await createZone(tools, actor, draft, idempotency).finally(release);
  },

  deleteZone: async (actor: Actor, key: AnyZoneKey, idempotency?: IdempotencyOption): Promise<Written> => {
    const { store, now } = tools.options;
    const at = await tools.permittedView.keyForWriting(actor, key);
    if (at === undefined) return missing("zone");
    const by = { actor, at, isAction: idempotency !== undefined, now: now(), ...idempotency };
    return toWritten<Done>(await store.run({ kind: "delete-zone", ...by }, deleteZoneRule));
  },
});

async function createZone(
  tools: ZoneTools,
  actor: Actor,
  draft: NewZoneDraft,
  idempotency: IdempotencyOption | undefined,
): Promise<CreatedZone> {
  const { options, permittedView } = tools;
  const name = parseZoneName(draft.name);
  if (!name.ok) return refused(name.faults);
  const refusal = permittedView.refusal(actor, { kind: "create-zone", zone: name.value });
  if (refusal) return denied(refusal);
  const created = options.now();
  const content = await contentOf(tools, actor, name.value, draft, created);
  if ("kind" in content) return content;
  const reserved = await reservedFor(options, actor.account, name.value);
  const identity = { account: actor.account, id: newZoneId(), name: name.value, reserved };
  const zone = { ...identity, created, ...content.zone };
  const { notes = [] } = content;
  const action = idempotency && { actionName: "create_zone", actor: actor.label, now: created, ...idempotency };
  const command = { actor, zone, parts: zone.sets.length, isTrial: draft.isTrial };
  const made =
    action && !draft.isTrial
      ? await options.store.run({ kind: "create-zone-action", ...command, action }, createZoneActionRule)
      : await options.store.run({ kind: "create-zone", ...command }, createZoneRule);
  if (made === "key-taken") return refused([keyTaken]);
  if (typeof made === "string") return refused([zoneNotCreated(name.value, made)]);
  return "result" in made
    ? { kind: "done", zone: made.result, action: made.action, notes }
    : { kind: "done", zone: made, action: undefined, notes };
}

/** Changes of settings. `idempotency` as above. */
const settingsWrites = (
  options: RecordServiceOptions,
  permittedView: PermittedView,
  changeSettings: ChangeSettings,
) => ({
  labelZone: async (actor: Actor, key: ZoneKey, labels: ZoneSettings["labels"] | undefined) => {
    const edit = patch(labels === undefined ? {} : { labels });
    return await outcomeWithZone(permittedView, actor, key, await changeSettings(actor, key, edit));
  },

  changeZoneTtl: (actor: Actor, key: ZoneKey, ttl: number, idempotency?: IdempotencyOption) =>
    changeSettings(actor, key, patch({ ttl }), { action: "change_ttl", ...idempotency }),

  lockZone: (actor: Actor, key: ZoneKey, locked: boolean | undefined, idempotency?: IdempotencyOption) => {
    const edit = patch(locked === undefined ? {} : { locked });
    return changeSettings(actor, key, edit, { action: "change_protection", ...idempotency });
  },

  changePrimaries: (actor: Actor, key: ZoneKey, servers: readonly ServerDraft[], idempotency?: IdempotencyOption) => {
    const primaries = serversFrom(servers, options.now());
    const edit = { kind: "servers", primaries, faults: serverFaults(options, servers) } as const;
    return changeSettings(actor, key, edit, { action: "change_primary_nameservers", ...idempotency });
  },

  /** The name must be the current one, because zones cannot be renamed. Without a TTL the zone keeps its own. */
  changeZone: async (
    actor: Actor,
    key: AnyZoneKey,
    { name, ttl }: { readonly name: string; readonly ttl?: number | null },
  ) => {
    const changed = await changeSettings(actor, key, { kind: "ttl", name, ttl: ttl ?? undefined });
    return await outcomeWithZone(permittedView, actor, key, changed);
  },
});

/** The first sets and settings of a new zone. */
async function contentOf(
  { options, schedule }: ZoneTools,
  actor: Actor,
  name: string,
  draft: NewZoneDraft,
  created: Instant,
): Promise<NewContent | NotDone> {
  const { mode = "primary", labels = {}, locked = false, primaries = [] } = draft;
  const at = { serial: nextSerial(0, created), now: created };
  const first = await schedule.run(actor.account, readingContent(draft, name, at, options.mostRecords));
  if ("kind" in first) return first;
  const isServed = mode === "primary" && draft.content !== undefined && draft.content.kind !== "taken";
  const sets = [...firstSets(first.sets, options, isServed, at), ...first.sets];
  const faults = [
    ...serverFaults(options, primaries),
    ...(await schedule.run(actor.account, checkingFirst(name, sets, draft, options.mostValues))),
  ];
  if (faults.length > 0) return refused(faults);
  const settings = {
    ttl: draft.ttl ?? first.ttl ?? defaultTtl,
    mode,
    labels: { ...first.marks.labels, ...labels },
    locked: locked || first.marks.locked === true,
    primaries: mode === "secondary" ? serversFrom(primaries, created) : [],
  };
  return { zone: { settings, serial: at.serial, sets }, notes: first.notes };
}

/** The operator's own zone holds the name of the service. */
async function reservedFor(
  options: RecordServiceOptions,
  account: number,
  name: string,
): Promise<Reserved | undefined> {
  const reserved = await reservedName(name, options);
  if (reserved !== "service-name") return reserved;
  return account === (await options.store.ensureAccount(operatorAccount, options.now())).id ? undefined : reserved;
}

const serverFaults = ({ allowedPrimaries = [] }: RecordServiceOptions, servers: readonly ServerDraft[]) =>
  servers.flatMap(({ address: text }, i) => {
    const address = parseAddress(text);
    return address ? primaryFaults(address, `primary_nameservers[${i}].address`, allowedPrimaries) : [];
  });

type NewContent = {
  readonly zone: Pick<NewZone, "settings" | "serial" | "sets">;
  readonly notes: Content["notes"];
};

type Content = Pick<ZoneFile, "ttl" | "marks"> & {
  readonly sets: readonly RRset[];
  readonly notes?: readonly string[];
};

function* readingContent(
  draft: NewZoneDraft,
  zoneName: string,
  at: { readonly serial: number; readonly now: number },
  mostRecords: number | undefined,
): Steps<Content | NotDone> {
  const nothing: Content = { sets: [], ttl: undefined, marks: {} };
  if (draft.mode === "secondary" || draft.content === undefined) return nothing;
  if (draft.content.kind === "sets") {
    const sets = setsFromDrafts(draft.content.sets, zoneName, at);
    return sets.ok ? { ...nothing, sets: sets.value } : refused(sets.faults);
  }
  if (draft.content.kind === "taken") return { ...nothing, sets: draft.content.sets, ttl: draft.content.ttl };
  const file = yield* parsingZoneFile(draft.content.text, zoneName, mostRecords);
  if (!file.ok) return refused(file.faults);
  const faults = yield* findingClashes(file.value.sets);
  if (faults.length > 0) return refused(faults);
  const stamp = { now: at.now, newId: newRecordIds() };
  const fitting = withoutOwn(file.value, draft.content.own);
  const { ttl, sets: inFile, raised: notes } = withHigherTtls(fitting, lowestTtl);
  const sets = yield* importedSets({ zone: { serial: at.serial }, sets: [] }, inFile, stamp);
  return { sets, ttl, marks: file.value.marks, notes };
}

function* checkingFirst(
  name: string,
  sets: readonly RRset[],
  { content }: NewZoneDraft,
  mostValues: number | undefined,
): Steps<readonly Fault[]> {
  const byKind =
    content?.kind === "sets"
      ? [...checkEdit([], sets, mostValues), ...longNameFaults(name, [], sets)]
      : importedNameFaults(name, [], sets);
  return [...(yield* checkingZone(sets)), ...(yield* checkingNewSets([], sets)), ...byKind];
}

const serversFrom = (drafts: readonly ServerDraft[], now: number): readonly PrimaryServer[] =>
  drafts.map((draft) => ({ id: newZoneId(), ...draft, created: now, modified: now }));
