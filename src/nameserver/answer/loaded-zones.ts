import type { MaybeLater } from "../../core/maybe-later.ts";
import { apex } from "../../core/names/name.ts";
import { compareSerials } from "../../core/records/serial.ts";
import {
  changeZoneView,
  emptyZoneView,
  placeSets,
  type ServedSet,
  type ZoneContent,
  type ZoneView,
  zoneViewSteps,
} from "../../core/records/zone-view.ts";
import { finish } from "../../core/steps.ts";
import { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { within } from "../../process/within.ts";
import { LastKnownZones } from "./last-known.ts";
import { createLruCache } from "./lru-cache.ts";
import { createNameFilter } from "./name-filter.ts";
import { isRootKey, keyAbove, keyOfName, type NameKey, nameOfKey } from "./name-key.ts";
import type { NegativeAuthority } from "./negative-authority.ts";
import { type BeginZone, isNews, type ZoneEvent, type ZoneNews, type ZoneSource } from "./zone-source.ts";

export type LoadedZone = {
  readonly view: ZoneView;
  /** False when the zone is no longer kept up to date: answers prepared from its view are then invalid. */
  current: boolean;
  /** Incremented when a zone below it is created or deleted: names may then belong to another zone. */
  belowVersion: number;
  /** It was queried since `makeRoom` last looked at it. */
  used: boolean;
  /**
   * The authority section of its unsigned negative answers; made when first needed, and again when the SOA has changed.
   */
  negativeAuthority: NegativeAuthority | undefined;
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

/** The zones that were queried, each kept up to date from then on. */
export class LoadedZones {
  readonly #source: ZoneSource;
  readonly #limits: LoadLimits;
  readonly #zones = new Map<NameKey, LoadedZone>();
  readonly #loading = new Map<
    string,
    { readonly result: Promise<LoadedZone | undefined>; readonly missed: ZoneNews[] }
  >();
  readonly #schedule = new FairSchedule();
  readonly #absent: ReturnType<typeof createLruCache<true>>;
  readonly #lastKnown: LastKnownZones<LoadedZone>;
  /** Never forgets a name: a zone that was deleted is looked up once. */
  readonly #names: ReturnType<typeof createNameFilter>;
  /** Whether the names are complete. */
  #hasAllNames = false;
  /** Whether they ever were. */
  #hadAllNames = false;
  #losses = 0;
  #generation = 0;
  #setsInMemory = 0;

  constructor(
    source: ZoneSource,
    limits: LoadLimits = defaultLoadLimits,
    onTrouble: (error: unknown) => void = () => undefined,
  ) {
    this.#source = source;
    this.#limits = limits;
    this.#absent = createLruCache<true>(limits.absent);
    this.#lastKnown = new LastKnownZones<LoadedZone>({ ...limits, onTrouble });
    this.#names = createNameFilter(limits.seed);
  }

  /** The zone that a name is in. A promise only when the source has to be asked; it rejects when that fails. */
  readonly find = (name: NameKey): MaybeLater<LoadedZone | undefined> => {
    const zone = this.#find(name);
    if (!(zone instanceof Promise)) return zone;
    const last = this.#lastKnown.find(name, this.#zones, (other) => !this.#hadAllNames || this.#names.mayHold(other));
    return last === undefined ? zone : this.#lastKnown.instead(last, zone);
  };

  /** Whether `find` gives the zone of a name without asking the source. */
  readonly isKnown = (name: NameKey): boolean => {
    return this.#search(name).unknown === undefined;
  };

  /** Whether the first `end` characters of a key are certainly not the name of a zone. */
  readonly isNoZone = (key: string, end: number): boolean => {
    return this.#hasAllNames && !this.#names.mayHold(key, end);
  };

  /** How many zones are in memory. */
  readonly count = (): number => {
    return this.#zones.size;
  };

  /**
   * Reads the names of all zones. Before that, and again when changes were missed, the source is asked about every new
   * name.
   */
  readonly readNames = async (): Promise<void> => {
    if (this.#source.names === undefined) return;
    const before = this.#losses;
    for await (const part of this.#source.names()) for (const name of part) this.#names.add(keyOfName(name));
    this.#hasAllNames = this.#losses === before;
    this.#hadAllNames ||= this.#hasAllNames;
  };

  /** The nearest zone in memory, and the longer names that may be zones too. */
  #search(name: NameKey) {
    let unknown: NameKey[] | undefined;
    let nearest: LoadedZone | undefined;
    const mayBeZone = this.#hasAllNames ? this.#names.mayHoldEnds(name) : undefined;
    // moor never serves the root zone.
    for (let start = 0; name.charCodeAt(start) > 0; start += 1 + name.charCodeAt(start)) {
      if (mayBeZone && !mayBeZone(start)) continue;
      const candidate = name.slice(start);
      nearest = this.#zones.get(candidate);
      if (nearest !== undefined) break;
      if (this.#absent.get(candidate) !== undefined) continue;
      unknown ??= [];
      unknown.push(candidate);
    }
    return { nearest, unknown };
  }

  #find(name: NameKey, left = tries): MaybeLater<LoadedZone | undefined> {
    const { nearest, unknown } = this.#search(name);
    if (nearest) nearest.used = true;
    return unknown === undefined ? nearest : this.#ask(name, unknown, nearest, left);
  }

  #ask(name: NameKey, unknown: readonly NameKey[], nearest: LoadedZone | undefined, left: number) {
    if (left === 0) throw new Error("zones are created and deleted faster than they can be looked up");
    const startGeneration = this.#generation;
    const settle = (closest: string | undefined): MaybeLater<LoadedZone | undefined> => {
      if (this.#generation !== startGeneration || nearest?.current === false) return this.#find(name, left - 1);
      const closestKey = closest === undefined ? undefined : keyOfName(closest);
      for (const each of unknown) {
        if (each === closestKey) break;
        this.#absent.set(each, true);
        this.#lastKnown.forget(each);
      }
      if (closest === undefined || closestKey === undefined) return nearest;
      // Another query may have loaded it meanwhile; a second copy would replace that one, which would then miss
      // changes.
      return this.#zones.get(closestKey) ?? this.#load(closest);
    };
    const closest = this.#source.closest(unknown.map(nameOfKey));
    return closest instanceof Promise ? within(this.#limits.find, closest).then(settle) : settle(closest);
  }

  #load(name: string): Promise<LoadedZone | undefined> {
    const underway = this.#loading.get(name);
    if (underway) return underway.result;
    const missed: ZoneNews[] = [];
    const result = within(
      this.#limits.wait,
      this.#read(name, missed).finally(() => this.#loading.delete(name)),
    );
    this.#loading.set(name, { result, missed });
    return result;
  }

  async #read(name: string, missed: ZoneNews[]): Promise<LoadedZone | undefined> {
    for (let i = 0; i < tries; i++) {
      let begun: ZoneView | undefined;
      const begin: BeginZone = (zone) => {
        const empty = emptyZoneView(zone);
        begun = empty;
        return (sets) => placeSets(empty, sets);
      };
      const content = await within(this.#limits.load, this.#source.load(name, begin));
      const view = content === undefined || isOutdated(missed) ? undefined : await this.#build(content, begun);
      // The content may be from before or after the change, so it is read again.
      if (isOutdated(missed)) {
        missed.length = 0;
        continue;
      }
      this.#lastKnown.forget(keyOfName(name));
      return view && this.#keep(view, missed);
    }
    throw new Error(`the zone ${name} changes faster than it can be loaded`);
  }

  #build(content: ZoneContent<ServedSet>, begun: ZoneView | undefined): ZoneView | Promise<ZoneView> {
    const steps = zoneViewSteps(content, begun);
    return begun || content.sets.length > largeZone ? this.#schedule.run(0, steps) : finish(steps);
  }

  #keep(view: ZoneView, missed: readonly ZoneNews[]): LoadedZone {
    const zone: LoadedZone = { view, current: true, belowVersion: 0, used: false, negativeAuthority: undefined };
    this.#zones.set(keyOfName(view.name), zone);
    this.#setsInMemory += zone.view.size;
    // Copied, because `apply` appends to `missed` while the zone counts as loading.
    for (const event of [...missed]) this.apply(event);
    this.#makeRoom(zone);
    return zone;
  }

  #drop(name: NameKey): void {
    const zone = this.#zones.get(name);
    if (zone === undefined) return;
    zone.current = false;
    this.#setsInMemory -= zone.view.size;
    this.#zones.delete(name);
  }

  /** The map is in loading order; a zone that was used since the last pass gets a second chance at its end. */
  #makeRoom(newest: LoadedZone): void {
    this.#lastKnown.makeRoom(this.#setsInMemory);
    let chances = secondChances;
    for (const [name, zone] of this.#zones) {
      if (this.#setsInMemory <= this.#limits.sets || this.#zones.size === 1) return;
      if (zone === newest || (zone.used && chances > 0)) {
        chances -= 1;
        zone.used = false;
        this.#zones.delete(name);
        this.#zones.set(name, zone);
      } else {
        this.#drop(name);
      }
    }
  }

  /** The next query asks the source again. */
  #outdate(name: NameKey): void {
    const zone = this.#zones.get(name);
    if (zone) this.#lastKnown.keep(name, zone);
    this.#drop(name);
  }

  /** The zone was created, deleted or replaced: the next query for it asks the source again. */
  #forgetZone(name: NameKey, isOver: boolean): void {
    this.#generation += 1;
    this.#names.add(name);
    this.#absent.delete(name);
    this.#outdate(name);
    if (isOver) this.#lastKnown.forget(name);
    for (let above = keyAbove(name); !isRootKey(above); above = keyAbove(above)) {
      const enclosing = this.#zones.get(above);
      if (enclosing === undefined) continue;
      enclosing.belowVersion += 1;
      return;
    }
  }

  #change(event: Extract<ZoneNews, { kind: "changed" }>): void {
    const key = keyOfName(event.zone);
    const zone = this.#zones.get(key);
    const order = zone && compareSerials(event.serial, zone.view.serial);
    // The same serial may be another part of the write; applying a change twice does no harm.
    if (zone && (order === 1 || order === 0)) {
      const before = zone.view.size;
      const isComplete = changeZoneView(zone.view, event.serial, event.changes);
      this.#setsInMemory += zone.view.size - before;
      if (!isComplete) this.#forgetZone(key, false);
    } else if (zone && order === undefined) {
      this.#forgetZone(key, false);
    }
  }

  readonly apply = (event: ZoneEvent): void => {
    if (!isNews(event)) return;
    if (event.kind === "late") {
      this.#lastKnown.giveUp();
      return;
    }
    if (event.kind === "lost") {
      this.#generation += 1;
      this.#losses += 1;
      this.#hasAllNames = false;
      this.#absent.clear();
      for (const name of [...this.#zones.keys()]) this.#outdate(name);
      for (const { missed } of this.#loading.values()) missed.push(event);
      return;
    }
    this.#loading.get(event.zone)?.missed.push(event);
    const isOver = event.kind === "withdrawn" || createsOrDeletesZone(event);
    if (isOver || event.kind === "replaced") this.#forgetZone(keyOfName(event.zone), isOver);
    else this.#change(event);
  };
}

const isOutdated = (missed: readonly ZoneNews[]): boolean =>
  missed.some((event) => event.kind !== "changed" || createsOrDeletesZone(event));

const createsOrDeletesZone = (event: ZoneNews): event is Extract<ZoneNews, { kind: "changed" }> =>
  event.kind === "changed" &&
  event.changes.some((change) => change.type === "SOA" && change.owner === apex && change.kind !== "replace");
