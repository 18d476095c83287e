import { apex } from "../../core/names/name.ts";
import { compareSerials } from "../../core/records/serial.ts";
import {
  changeZoneView,
  emptyZoneView,
  placeSets,
  type ShownSet,
  type ZoneContent,
  type ZoneView,
  zoneViewSteps,
} from "../../core/records/zone-view.ts";
import { finish } from "../../core/steps.ts";
import { createTurns } from "../../lib/limits/turns.ts";
import { within } from "../../process/within.ts";
import { createKeptMap } from "./kept-map.ts";
import { LastKnownZones } from "./last-known.ts";
import { createNameFilter } from "./name-filter.ts";
import { isRootKey, keyAbove, keyOfName, type NameKey, nameOfKey } from "./name-key.ts";
import type { NegativeTail } from "./negative-tail.ts";
import { type BeginZone, isNews, type ZoneEvent, type ZoneNews, type ZoneSource } from "./zone-source.ts";

/** The zones that were queried, each kept up to date from then on. */
export type LoadedZones = {
  /** The zone that a name is in. A promise only when the source has to be asked; it rejects when that fails. */
  readonly find: (name: NameKey) => LoadedZone | undefined | Promise<LoadedZone | undefined>;
  /** Whether `find` gives the zone of a name without asking the source. */
  readonly isKnown: (name: NameKey) => boolean;
  /** Whether the first `end` characters of a key are certainly not the name of a zone. */
  readonly isNoZone: (key: string, end: number) => boolean;
  readonly apply: (event: ZoneEvent) => void;
  /** Reads the names of all zones. Before that, and again when changes were missed, the source is asked about every new name. */
  readonly learn: () => Promise<void>;
  /** How many zones are in memory. */
  readonly count: () => number;
};

export type LoadedZone = {
  readonly view: ZoneView;
  /** False when the zone is no longer kept up to date: answers prepared from its view are then invalid. */
  current: boolean;
  /** Incremented when a zone below it is created or deleted: names may then belong to another zone. */
  below: number;
  /** It was queried since `makeRoom` last looked at it. */
  used: boolean;
  /** The tail of its negative answers without signatures; made when first needed, and again when the SOA has changed. */
  tail: NegativeTail | undefined;
};

export type LoadLimits = {
  /** Sets in memory, all zones together. Zones that were not queried lately are dropped first. */
  readonly sets: number;
  /** Names remembered as not being zones. */
  readonly absent: number;
  /** Milliseconds that queries wait for a zone to load. Loading continues, and later queries find the zone. */
  readonly wait: number;
  /** Milliseconds that a zone may take to load. A large one is loaded in parts, with queries answered in between. */
  readonly load: number;
  /** Milliseconds to find the zone of a name: a resolver gives up soon and asks another server. */
  readonly find: number;
  /** Any number: makes it hard to guess which names are mistaken for zones. */
  readonly seed: number;
};

export const defaultLoadLimits: LoadLimits = {
  sets: 1_000_000,
  absent: 50_000,
  wait: 5_000,
  load: 60_000,
  find: 2_000,
  seed: 0,
};

/** Larger zones, in sets, are built in parts. */
const largeZone = 1_000;

/** How often a query or load is restarted because zones were created or deleted meanwhile. */
const tries = 4;

/** The most zones in use that are skipped before one is dropped. */
const secondChances = 32;

export function createLoadedZones(
  source: ZoneSource,
  limits = defaultLoadLimits,
  onTrouble: (error: unknown) => void = () => undefined,
): LoadedZones {
  const zones = new Map<NameKey, LoadedZone>();
  const loading = new Map<string, { readonly result: Promise<LoadedZone | undefined>; readonly missed: ZoneNews[] }>();
  const turns = createTurns();
  const absent = createKeptMap<true>(limits.absent);
  const lastKnown = new LastKnownZones<LoadedZone>({ ...limits, onTrouble });
  /** Never forgets a name: a zone that was deleted is looked up once. */
  const names = createNameFilter(limits.seed);
  /** Whether the names are complete, and whether they ever were. */
  let [learned, everLearned] = [false, false];
  let losses = 0;
  let generation = 0;
  let held = 0;

  const learn = async (): Promise<void> => {
    if (source.names === undefined) return;
    const before = losses;
    for await (const part of source.names()) for (const name of part) names.add(keyOfName(name));
    learned = losses === before;
    everLearned ||= learned;
  };

  /** The nearest zone in memory, and the longer names that may be zones too. */
  const look = (name: NameKey) => {
    let unknown: NameKey[] | undefined;
    let nearest: LoadedZone | undefined;
    const mayBeZone = learned ? names.mayHoldEnds(name) : undefined;
    // moor never serves the root zone.
    for (let start = 0; name.charCodeAt(start) > 0; start += 1 + name.charCodeAt(start)) {
      if (mayBeZone && !mayBeZone(start)) continue;
      const candidate = name.slice(start);
      nearest = zones.get(candidate);
      if (nearest !== undefined) break;
      if (absent.get(candidate) !== undefined) continue;
      unknown ??= [];
      unknown.push(candidate);
    }
    return { nearest, unknown };
  };

  const find = (name: NameKey, left = tries): ReturnType<LoadedZones["find"]> => {
    const { nearest, unknown } = look(name);
    if (nearest) nearest.used = true;
    return unknown === undefined ? nearest : ask(name, unknown, nearest, left);
  };

  const ask = (name: NameKey, unknown: readonly NameKey[], nearest: LoadedZone | undefined, left: number) => {
    if (left === 0) throw new Error("zones are created and deleted faster than they can be looked up");
    const asked = generation;
    const settle = (closest: string | undefined): ReturnType<LoadedZones["find"]> => {
      if (generation !== asked || nearest?.current === false) return find(name, left - 1);
      const found = closest === undefined ? undefined : keyOfName(closest);
      for (const each of unknown) {
        if (each === found) break;
        absent.set(each, true);
        lastKnown.forget(each);
      }
      if (closest === undefined || found === undefined) return nearest;
      // Another query may have loaded it meanwhile; a second copy would replace that one, which would then miss changes.
      return zones.get(found) ?? load(closest);
    };
    const closest = source.closest(unknown.map(nameOfKey));
    return closest instanceof Promise ? within(limits.find, closest).then(settle) : settle(closest);
  };

  const load = (name: string): Promise<LoadedZone | undefined> => {
    const underway = loading.get(name);
    if (underway) return underway.result;
    const missed: ZoneNews[] = [];
    const result = within(
      limits.wait,
      read(name, missed).finally(() => loading.delete(name)),
    );
    loading.set(name, { result, missed });
    return result;
  };

  const read = async (name: string, missed: ZoneNews[]): Promise<LoadedZone | undefined> => {
    for (let i = 0; i < tries; i++) {
      let begun: ZoneView | undefined;
      const begin: BeginZone = (zone) => {
        const empty = emptyZoneView(zone);
        begun = empty;
        return (sets) => placeSets(empty, sets);
      };
      const content = await within(limits.load, source.load(name, begin));
      const view = content === undefined || isOutdated(missed) ? undefined : await build(content, begun);
      // The content may be from before or after the change, so it is read again.
      if (isOutdated(missed)) {
        missed.length = 0;
        continue;
      }
      lastKnown.forget(keyOfName(name));
      return view && hold(view, missed);
    }
    throw new Error(`the zone ${name} changes faster than it can be loaded`);
  };

  const build = (content: ZoneContent<ShownSet>, begun: ZoneView | undefined): ZoneView | Promise<ZoneView> => {
    const steps = zoneViewSteps(content, begun);
    return begun || content.sets.length > largeZone ? turns.run(0, steps) : finish(steps);
  };

  const hold = (view: ZoneView, missed: readonly ZoneNews[]): LoadedZone => {
    const zone: LoadedZone = { view, current: true, below: 0, used: false, tail: undefined };
    zones.set(keyOfName(view.name), zone);
    held += zone.view.size;
    // Copied, because `apply` appends to `missed` while the zone counts as loading.
    for (const event of [...missed]) apply(event);
    makeRoom(zone);
    return zone;
  };

  const drop = (name: NameKey): void => {
    const zone = zones.get(name);
    if (zone === undefined) return;
    zone.current = false;
    held -= zone.view.size;
    zones.delete(name);
  };

  /** The map is in loading order; a zone that was used since the last pass gets a second chance at its end. */
  const makeRoom = (newest: LoadedZone): void => {
    lastKnown.makeRoom(held);
    let chances = secondChances;
    for (const [name, zone] of zones) {
      if (held <= limits.sets || zones.size === 1) return;
      if (zone === newest || (zone.used && chances > 0)) {
        chances -= 1;
        zone.used = false;
        zones.delete(name);
        zones.set(name, zone);
      } else {
        drop(name);
      }
    }
  };

  /** The next query asks the source again. */
  const outdate = (name: NameKey): void => {
    const zone = zones.get(name);
    if (zone) lastKnown.keep(name, zone);
    drop(name);
  };

  /** The zone was created, deleted or replaced: the next query for it asks the source again. */
  const forgetZone = (name: NameKey, isOver: boolean): void => {
    generation += 1;
    names.add(name);
    absent.delete(name);
    outdate(name);
    if (isOver) lastKnown.forget(name);
    for (let above = keyAbove(name); !isRootKey(above); above = keyAbove(above)) {
      const enclosing = zones.get(above);
      if (enclosing === undefined) continue;
      enclosing.below += 1;
      return;
    }
  };

  const change = (event: Extract<ZoneNews, { kind: "changed" }>): void => {
    const key = keyOfName(event.zone);
    const zone = zones.get(key);
    const order = zone && compareSerials(event.serial, zone.view.serial);
    // The same serial may be another part of the write; applying a change twice does no harm.
    if (zone && (order === 1 || order === 0)) {
      const before = zone.view.size;
      const isComplete = changeZoneView(zone.view, event.serial, event.changes);
      held += zone.view.size - before;
      if (!isComplete) forgetZone(key, false);
    } else if (zone && order === undefined) {
      forgetZone(key, false);
    }
  };

  const apply = (event: ZoneEvent): void => {
    if (!isNews(event)) return;
    if (event.kind === "late") {
      lastKnown.giveUp();
      return;
    }
    if (event.kind === "lost") {
      generation += 1;
      losses += 1;
      learned = false;
      absent.clear();
      for (const name of [...zones.keys()]) outdate(name);
      for (const { missed } of loading.values()) missed.push(event);
      return;
    }
    loading.get(event.zone)?.missed.push(event);
    const isOver = event.kind === "withdrawn" || createsOrDeletesZone(event);
    if (isOver || event.kind === "replaced") forgetZone(keyOfName(event.zone), isOver);
    else change(event);
  };

  return {
    find: (name) => {
      const found = find(name);
      if (!(found instanceof Promise)) return found;
      const last = lastKnown.find(name, zones, (other) => !everLearned || names.mayHold(other));
      return last === undefined ? found : lastKnown.instead(last, found);
    },
    isKnown: (name) => look(name).unknown === undefined,
    isNoZone: (key, end) => learned && !names.mayHold(key, end),
    apply,
    learn,
    count: () => zones.size,
  };
}

const isOutdated = (missed: readonly ZoneNews[]): boolean =>
  missed.some((event) => event.kind !== "changed" || createsOrDeletesZone(event));

const createsOrDeletesZone = (event: ZoneNews): event is Extract<ZoneNews, { kind: "changed" }> =>
  event.kind === "changed" &&
  event.changes.some((change) => change.type === "SOA" && change.owner === apex && change.kind !== "replace");
