import { lowestTtl, mostFileRecords } from "../../../contract/rrsets-limits.ts";
import { parseAddress } from "../../../core/addresses/address.ts";
import { primaryFaults } from "../../../core/addresses/primary-address.ts";
import { lostServers } from "../../../core/names/lost-servers.ts";
import { enclosing, parseName, parseZoneName } from "../../../core/names/name.ts";
import { checkNewSets } from "../../../core/records/check-new-sets.ts";
import { checkZone } from "../../../core/records/check-zone.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { nextSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { lowTtls } from "../../../core/zone-file/low-ttls.ts";
import { parsingZoneFile, type ZoneFile } from "../../../core/zone-file/parse.ts";
import { placeInFile } from "../../../core/zone-file/sets.ts";
import type { Turns } from "../../../process/turns.ts";
import type { Action, PrimaryServer, Zone, ZoneKey, ZoneSettings } from "../../model.ts";
import type { Acted, DecideAct, Page, ZoneQuery } from "../../store/port.ts";
import { zoneNotCreated } from "../../zone-names/refused-zone.ts";
import { reservedName } from "../../zone-names/reserved-names.ts";
import { zoneFaults } from "../edit/check-write.ts";
import { newRecordIds, newZoneId } from "../edit/new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Asked, actedBefore, notActed, type SetDraft } from "../set-operations.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "../sight.ts";
import { firstSets, importedSets, setsFromDrafts } from "./first-sets.ts";
import { removalObstacle, setsLocked } from "./operations.ts";
import { zoneStatuses } from "./status.ts";

export type ServerDraft = Pick<PrimaryServer, "address" | "port" | "tsig">;

export type NewZoneDraft = {
  readonly name: string;
  readonly mode: ZoneSettings["mode"];
  readonly ttl: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly primaries: readonly ServerDraft[];
  readonly locked: boolean;
  /** What the zone shall hold from the start, of a primary zone. */
  readonly content:
    | { readonly kind: "sets"; readonly sets: readonly (SetDraft & { readonly name: string; readonly type: string })[] }
    | { readonly kind: "file"; readonly text: string };
};

export type ZoneWritten = { readonly kind: "done"; readonly zone: Zone; readonly action: Action | undefined } | NotDone;
/** Without the zone: by now that may be another, or gone. */
type ZoneActed = { readonly kind: "done"; readonly action: Action | undefined } | NotDone;

const defaultTtl = 3_600;

/** Zones as the record-set API has them. */
export function rrsetsZoneOperations(options: RecordServiceOptions, sight: Sight, turns: Turns) {
  const { store, now, nameservers, allowedPrimaries = [] } = options;
  type Rule = (zone: Zone) => ZoneSettings | NotDone;

  const change = async (actor: Actor, key: ZoneKey, command: string | undefined, rule: Rule, asked: Asked = {}) => {
    const decide: DecideAct<{ kind: "done" } | NotDone> = ({ zone }) => {
      const obstacle = mayWrite(sight, actor, zone);
      const settings = obstacle ?? rule(zone);
      if ("kind" in settings) return { wanted: undefined, result: settings };
      return { wanted: undefined, settings, ...(command && { command }), result: { kind: "done" } };
    };
    const request = { account: actor.account, at: key, owners: () => [], actor: actor.label, now: now(), ...asked };
    return zoneActed(await store.act(request, decide));
  };

  const faultsOf = (servers: readonly ServerDraft[]): readonly Fault[] =>
    servers.flatMap(({ address: text }, i) => {
      const address = parseAddress(text);
      return address ? primaryFaults(address, `primary_nameservers[${i}].address`, allowedPrimaries) : [];
    });

  return {
    zoneBy: sight.zoneBy,
    openZone: sight.openZone,
    zoneStatuses: (zones: readonly Zone[]) => zoneStatuses(store, zones, now()),

    /** `keep` chooses among those that the query finds and the actor may see. */
    zonePage: async (
      actor: Actor,
      query: ZoneQuery,
      keep: ((zone: Zone) => boolean) | undefined,
    ): Promise<Page<Zone>> => {
      const { zones: within } = actor.scope;
      const seen = within === undefined ? query : { ...query, within };
      const found = await store.zones(
        actor.account,
        keep ? { ...seen, page: 1, perPage: Number.MAX_SAFE_INTEGER } : seen,
      );
      const page = keep ? pageOf(found.items.filter(keep), query) : found;
      return { ...page, items: await Promise.all(page.items.map((zone) => sight.asSeen(actor, zone))) };
    },

    /** The account's zone that holds a name: the closest one above it of those that the actor may see, as if there were no others. */
    zoneOwning: async (actor: Actor, text: string): Promise<Zone | undefined> => {
      const name = parseName(text);
      if (!name.ok) return undefined;
      const within = enclosing(name.value).filter((zone) => sight.allows(actor, { kind: "read-zone", zone }));
      if (within.length === 0) return undefined;
      const { items } = await store.zones(actor.account, { within, page: 1, perPage: within.length });
      const closest = items.toSorted((a, b) => b.name.length - a.name.length)[0];
      return closest && (await sight.zoneBy(actor, closest));
    },

    createZoneWith: async (actor: Actor, draft: NewZoneDraft, asked: Asked = {}): Promise<ZoneWritten> => {
      const name = parseZoneName(draft.name);
      if (!name.ok) return refused(name.faults);
      const refusal = sight.refusal(actor, { kind: "create-zone", zone: name.value });
      if (refusal) return denied(refusal);
      const created = now();
      const serial = nextSerial(0, created);
      const first = await turns.run(actor.account, readingContent(draft, name.value, { serial, now: created }));
      if ("kind" in first) return first;
      const sets = [...firstSets(first.sets, options, draft.mode, { serial, now: created }), ...first.sets];
      const faults = [...faultsOf(draft.primaries), ...checkZone(sets), ...checkNewSets([], sets)];
      if (faults.length > 0) return refused(faults);
      const settings = {
        ttl: draft.ttl ?? first.ttl ?? defaultTtl,
        mode: draft.mode,
        labels: draft.labels,
        locked: draft.locked,
        primaries: draft.mode === "secondary" ? serversFrom(draft.primaries, created) : [],
      };
      const reserved = await reservedName(name.value, nameservers);
      const identity = { account: actor.account, id: newZoneId(), name: name.value, reserved };
      const zone = { ...identity, settings, serial, created, sets };
      const act = { command: "create_zone", actor: actor.label, now: created, ...asked };
      const acted = await store.actCreateZone(zone, act);
      if (acted === "key-taken") return notActed(acted);
      if (typeof acted === "string") return refused([zoneNotCreated(name.value, acted)]);
      return { kind: "done", zone: acted.result, action: acted.action };
    },

    dropZone: async (actor: Actor, key: ZoneKey, asked: Asked = {}): Promise<ZoneWritten> => {
      const decide: DecideAct<{ kind: "done"; zone: Zone } | NotDone> = (view) => {
        const obstacle = removalObstacle(sight, actor, view);
        if (obstacle) return { wanted: undefined, result: obstacle };
        return { wanted: undefined, remove: true, command: "delete_zone", result: { kind: "done", zone: view.zone } };
      };
      const request = { account: actor.account, at: key, owners: "all", actor: actor.label, now: now() } as const;
      const acted = await store.act({ ...request, ...asked }, decide);
      if (typeof acted === "string") return notActed(acted);
      return acted.result.kind === "done" ? { ...acted.result, action: acted.action } : acted.result;
    },

    labelZone: async (actor: Actor, key: ZoneKey, labels: ZoneSettings["labels"] | undefined): Promise<ZoneWritten> => {
      const rule: Rule = ({ settings }) => (labels === undefined ? settings : { ...settings, labels });
      const done = await change(actor, key, undefined, rule);
      if (done.kind !== "done") return done;
      const zone = await sight.zoneBy(actor, key);
      return zone ? { ...done, zone } : missing("zone");
    },

    changeZoneTtl: (actor: Actor, key: ZoneKey, ttl: number, asked?: Asked) =>
      change(actor, key, "change_ttl", ({ settings }) => ({ ...settings, ttl }), asked),

    lockZone: (actor: Actor, key: ZoneKey, locked: boolean | undefined, asked?: Asked) =>
      change(
        actor,
        key,
        "change_protection",
        ({ settings }) => (locked === undefined ? settings : { ...settings, locked }),
        asked,
      ),

    changePrimaries: (actor: Actor, key: ZoneKey, servers: readonly ServerDraft[], asked?: Asked) => {
      const primaries = serversFrom(servers, now());
      const faults = faultsOf(servers);
      const rule: Rule = ({ settings }) => {
        if (settings.mode === "primary") return refused([zoneIsPrimary]);
        return faults.length > 0 ? refused(faults) : { ...settings, primaries };
      };
      return change(actor, key, "change_primary_nameservers", rule, asked);
    },

    /** Replaces all sets by those of the file. Labels go; records that are there again keep their ids. */
    importFile: async (actor: Actor, key: ZoneKey, text: string, asked: Asked = {}): Promise<ZoneActed> => {
      const zone = await sight.openZone(actor, key);
      if (zone === undefined) return zoneActed(await actedBefore(options, actor, key, asked));
      const obstacle = mayWrite(sight, actor, zone);
      if (obstacle) return obstacle;
      const file = await turns.run(actor.account, parsingZoneFile(text, zone.name, mostFileRecords));
      if (!file.ok) return refused([...zoneFaults(zone), ...file.faults]);
      const at = now();
      const newIds = file.value.sets.map(newRecordIds);
      const decide: DecideAct<{ kind: "done" } | NotDone> = (view) => {
        const sets = importedSets(view, file.value, { now: at, newIds });
        const faults = importFaults(view.zone, view.sets, sets, file.value, nameservers);
        if (faults.length > 0) return { wanted: undefined, result: refused(faults) };
        const settings = { ...view.zone.settings, ttl: file.value.ttl ?? view.zone.settings.ttl };
        return { wanted: sets, settings, command: "import_zonefile", result: { kind: "done" } };
      };
      const request = { account: actor.account, at: key, owners: "all", actor: actor.label, now: at } as const;
      return zoneActed(await store.act({ ...request, ...asked }, decide));
    },
  };
}

function zoneActed(acted: Acted<{ kind: "done" } | NotDone> | "no-zone" | "key-taken"): ZoneActed {
  if (typeof acted === "string") return notActed(acted);
  return acted.result.kind === "done" ? { kind: "done", action: acted.action } : acted.result;
}

const pageOf = <T>(all: readonly T[], { page, perPage }: ZoneQuery): Page<T> => ({
  items: all.slice((page - 1) * perPage, page * perPage),
  total: all.length,
});

function mayWrite(sight: Sight, actor: Actor, { name: zone }: Zone): NotDone | undefined {
  if (!sight.allows(actor, { kind: "read-zone", zone })) return missing("zone");
  const refusal = sight.refusal(actor, { kind: "write-zone", zone });
  return refusal && denied(refusal);
}

type Content = { readonly sets: readonly RRset[]; readonly ttl: number | undefined };

function* readingContent(
  draft: NewZoneDraft,
  zoneName: string,
  at: { readonly serial: number; readonly now: number },
): Steps<Content | NotDone> {
  const nothing: Content = { sets: [], ttl: undefined };
  if (draft.mode === "secondary") return nothing;
  if (draft.content.kind === "sets") {
    const sets = setsFromDrafts(draft.content.sets, zoneName, at);
    return sets.ok ? { ...nothing, sets: sets.value } : refused(sets.faults);
  }
  const file = yield* parsingZoneFile(draft.content.text, zoneName, mostFileRecords);
  if (!file.ok) return refused(file.faults);
  const faults = [...lowTtls(file.value, lowestTtl), ...(yield* findingClashes(file.value.sets))];
  if (faults.length > 0) return refused(faults);
  const newIds = file.value.sets.map(newRecordIds);
  const sets = importedSets({ zone: { serial: at.serial }, sets: [] }, file.value, { now: at.now, newIds });
  return { sets, ttl: file.value.ttl };
}

function importFaults(
  zone: Zone,
  before: readonly RRset[],
  after: readonly RRset[],
  file: ZoneFile,
  nameservers: readonly string[],
): readonly Fault[] {
  const locked = before.some((set) => set.locked) ? [setsLocked] : [];
  return [
    ...zoneFaults(zone),
    ...locked,
    ...lowTtls(file, lowestTtl),
    ...lostServers(
      serversNamed(before),
      serversNamed(after),
      nameservers.map((server) => `${server}.`),
    ),
    ...placeInFile([...checkZone(after), ...checkNewSets(before, after)], file.sets),
  ];
}

const serversNamed = (sets: readonly RRset[]): readonly string[] =>
  sets.filter((set) => set.owner === "@" && set.type === "NS").flatMap((set) => set.records.map((r) => r.rdata));

const serversFrom = (drafts: readonly ServerDraft[], now: number): readonly PrimaryServer[] =>
  drafts.map((draft) => ({ id: newZoneId(), ...draft, created: now, modified: now }));

const zoneIsPrimary: Fault = {
  code: "zone-is-primary",
  where: "zone",
  message: "the zone is a primary one: its records are written here",
  todo: "make a zone of mode secondary",
};
