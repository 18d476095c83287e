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
import { lowTtls } from "../../../core/zone-file/low-ttls.ts";
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
import type { Page, RecordStore, ZoneQuery } from "../../store/port.ts";
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
import type { LargeFiles } from "./large-files.ts";
import { type ChangeSettings, patch } from "./settings.ts";
import { reservedName, zoneNotCreated } from "./zone-names.ts";

type CreatedZone = { readonly kind: "done"; readonly zone: Zone; readonly action: Action | undefined } | NotDone;

const defaultTtl = 3_600;

export const zoneOperations = (
  options: RecordServiceOptions,
  permittedView: PermittedView,
  tools: WriteTools,
  changeSettings: ChangeSettings,
) => {
  const reads: Pick<ZoneReads, keyof ZoneReads> = new ZoneReads(options, permittedView, tools.schedule);
  const writes: Pick<ZoneWrites, keyof ZoneWrites> = new ZoneWrites(options, permittedView, tools, changeSettings);
  return { ...reads, ...writes };
};

/** Zones as an actor sees them, for all APIs. */
class ZoneReads {
  readonly #store: RecordStore;
  readonly #now: () => Instant;
  readonly #permittedView: PermittedView;
  readonly #schedule: FairSchedule;

  constructor({ store, now }: RecordServiceOptions, permittedView: PermittedView, schedule: FairSchedule) {
    this.#store = store;
    this.#now = now;
    this.#permittedView = permittedView;
    this.#schedule = schedule;
  }

  readonly zone: PermittedView["zone"] = (actor, key) => this.#permittedView.zone(actor, key);

  readonly openZone: PermittedView["openZone"] = (actor, key) => this.#permittedView.openZone(actor, key);

  readonly zoneStatuses = (zones: readonly Zone[]) => zoneStatuses(this.#store, zones, this.#now());

  /** `keep` filters the zones that the query finds and the actor may see. */
  readonly zones = async (actor: Actor, query: ZoneQuery, keep?: (zone: Zone) => boolean): Promise<Page<Zone>> => {
    const { zones: within } = actor.scope;
    const seen = within === undefined ? query : { ...query, within };
    const page = keep
      ? pageOfZones(await this.#kept(actor.account, seen, keep), query)
      : await this.#store.zones(actor.account, seen);
    return { ...page, items: await Promise.all(page.items.map((zone) => this.#permittedView.asSeen(actor, zone))) };
  };

  /** The account's zone that contains a name: the closest enclosing zone among those that the actor may see. */
  readonly zoneOwning = async (actor: Actor, text: string): Promise<Zone | undefined> => {
    const name = parseName(text);
    if (!name.ok) return undefined;
    const within = enclosing(name.value).filter((zone) =>
      this.#permittedView.allows(actor, { kind: "read-zone", zone }),
    );
    if (within.length === 0) return undefined;
    const { items } = await this.#store.zones(actor.account, { within, page: 1, perPage: within.length });
    const closest = items.toSorted((a, b) => b.name.length - a.name.length)[0];
    return closest && (await this.#permittedView.zone(actor, closest));
  };

  async #kept(
    account: number,
    { order, page, perPage, ...filter }: ZoneQuery,
    keep: (zone: Zone) => boolean,
  ): Promise<readonly Zone[]> {
    const kept: Zone[] = [];
    for await (const zone of allZones(this.#store, account, filter, () => this.#schedule.next(account)))
      if (keep(zone)) kept.push(zone);
    return kept;
  }
}

type WriteTools = { readonly schedule: FairSchedule; readonly files: LargeFiles };

/** Creating, changing and deleting zones, for all APIs. */
class ZoneWrites {
  readonly #options: RecordServiceOptions;
  readonly #permittedView: PermittedView;
  readonly #schedule: FairSchedule;
  readonly #files: LargeFiles;
  readonly #changeSettings: ChangeSettings;

  constructor(
    options: RecordServiceOptions,
    permittedView: PermittedView,
    { schedule, files }: WriteTools,
    changeSettings: ChangeSettings,
  ) {
    this.#options = options;
    this.#permittedView = permittedView;
    this.#schedule = schedule;
    this.#files = files;
    this.#changeSettings = changeSettings;
  }

  /** `idempotency`: set by an API that stores actions; without it none is stored. */
  readonly createZone = async (
    actor: Actor,
    draft: NewZoneDraft,
    idempotency?: IdempotencyOption,
  ): Promise<CreatedZone> => {
    const release = await this.#files.hold(actor.account, draft.content?.kind === "file" ? draft.content.text : "");
    return await this.#createZone(actor, draft, idempotency).finally(release);
  };

  async #createZone(actor: Actor, draft: NewZoneDraft, idempotency?: IdempotencyOption): Promise<CreatedZone> {
    const { store, now } = this.#options;
    const name = parseZoneName(draft.name);
    if (!name.ok) return refused(name.faults);
    const refusal = this.#permittedView.refusal(actor, { kind: "create-zone", zone: name.value });
    if (refusal) return denied(refusal);
    const created = now();
    const content = await this.#contentOf(actor, name.value, draft, created);
    if ("kind" in content) return content;
    const reserved = await this.#reservedFor(actor.account, name.value);
    const identity = { account: actor.account, id: newZoneId(), name: name.value, reserved };
    const zone = { ...identity, created, ...content };
    const action = idempotency && { actionName: "create_zone", actor: actor.label, now: created, ...idempotency };
    const command = { actor, zone, parts: zone.sets.length, isTrial: draft.isTrial };
    const made =
      action && !draft.isTrial
        ? await store.run({ kind: "create-zone-action", ...command, action }, createZoneActionRule)
        : await store.run({ kind: "create-zone", ...command }, createZoneRule);
    if (made === "key-taken") return refused([keyTaken]);
    if (typeof made === "string") return refused([zoneNotCreated(name.value, made)]);
    return "result" in made
      ? { kind: "done", zone: made.result, action: made.action }
      : { kind: "done", zone: made, action: undefined };
  }

  /** `idempotency` as in `createZone`. */
  readonly deleteZone = async (actor: Actor, key: AnyZoneKey, idempotency?: IdempotencyOption): Promise<Written> => {
    const { store, now } = this.#options;
    const at = await this.#permittedView.keyForWriting(actor, key);
    if (at === undefined) return missing("zone");
    const by = { actor, at, isAction: idempotency !== undefined, now: now(), ...idempotency };
    return toWritten<Done>(await store.run({ kind: "delete-zone", ...by }, deleteZoneRule));
  };

  readonly labelZone = async (actor: Actor, key: ZoneKey, labels: ZoneSettings["labels"] | undefined) => {
    const edit = patch(labels === undefined ? {} : { labels });
    return await outcomeWithZone(this.#permittedView, actor, key, await this.#changeSettings(actor, key, edit));
  };

  readonly changeZoneTtl = (actor: Actor, key: ZoneKey, ttl: number, idempotency?: IdempotencyOption) =>
    this.#changeSettings(actor, key, patch({ ttl }), { action: "change_ttl", ...idempotency });

  readonly lockZone = (actor: Actor, key: ZoneKey, locked: boolean | undefined, idempotency?: IdempotencyOption) => {
    const edit = patch(locked === undefined ? {} : { locked });
    return this.#changeSettings(actor, key, edit, { action: "change_protection", ...idempotency });
  };

  readonly changePrimaries = (
    actor: Actor,
    key: ZoneKey,
    servers: readonly ServerDraft[],
    idempotency?: IdempotencyOption,
  ) => {
    const primaries = serversFrom(servers, this.#options.now());
    const edit = { kind: "servers", primaries, faults: this.#faultsOf(servers) } as const;
    return this.#changeSettings(actor, key, edit, { action: "change_primary_nameservers", ...idempotency });
  };

  /** The name must be the current one, because zones cannot be renamed. Without a TTL the zone keeps its own. */
  readonly changeZone = async (
    actor: Actor,
    key: AnyZoneKey,
    { name, ttl }: { readonly name: string; readonly ttl?: number | null },
  ) => {
    const changed = await this.#changeSettings(actor, key, { kind: "ttl", name, ttl: ttl ?? undefined });
    return await outcomeWithZone(this.#permittedView, actor, key, changed);
  };

  /** The first sets and settings of a new zone. */
  async #contentOf(actor: Actor, name: string, draft: NewZoneDraft, created: Instant): Promise<NewContent | NotDone> {
    const { mode = "primary", labels = {}, locked = false, primaries = [] } = draft;
    const at = { serial: nextSerial(0, created), now: created };
    const first = await this.#schedule.run(actor.account, readingContent(draft, name, at, this.#options.mostRecords));
    if ("kind" in first) return first;
    const isServed = mode === "primary" && draft.content !== undefined && draft.content.kind !== "taken";
    const sets = [...firstSets(first.sets, this.#options, isServed, at), ...first.sets];
    const faults = [
      ...this.#faultsOf(primaries),
      ...(await this.#schedule.run(actor.account, checkingFirst(name, sets, draft, this.#options.mostValues))),
    ];
    if (faults.length > 0) return refused(faults);
    const settings = {
      ttl: draft.ttl ?? first.ttl ?? defaultTtl,
      mode,
      labels: { ...first.marks.labels, ...labels },
      locked: locked || first.marks.locked === true,
      primaries: mode === "secondary" ? serversFrom(primaries, created) : [],
    };
    return { settings, serial: at.serial, sets };
  }

  /** The operator's own zone holds the name of the service. */
  async #reservedFor(account: number, name: string): Promise<Reserved | undefined> {
    const { store, now } = this.#options;
    const reserved = await reservedName(name, this.#options);
    if (reserved !== "service-name") return reserved;
    return account === (await store.ensureAccount(operatorAccount, now())).id ? undefined : reserved;
  }

  #faultsOf(servers: readonly ServerDraft[]): readonly Fault[] {
    const { allowedPrimaries = [] } = this.#options;
    return servers.flatMap(({ address: text }, i) => {
      const address = parseAddress(text);
      return address ? primaryFaults(address, `primary_nameservers[${i}].address`, allowedPrimaries) : [];
    });
  }
}

type NewContent = Pick<NewZone, "settings" | "serial" | "sets">;

type Content = Pick<ZoneFile, "ttl" | "marks"> & { readonly sets: readonly RRset[] };

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
  const faults = [...lowTtls(file.value, lowestTtl), ...(yield* findingClashes(file.value.sets))];
  if (faults.length > 0) return refused(faults);
  const stamp = { now: at.now, newId: newRecordIds() };
  const sets = yield* importedSets({ zone: { serial: at.serial }, sets: [] }, file.value, stamp);
  return { sets, ttl: file.value.ttl, marks: file.value.marks };
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
