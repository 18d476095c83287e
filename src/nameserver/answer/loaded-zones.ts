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
import { defaultLoadLimits, type LoadLimits } from "./load-limits.ts";
import { createLruCache } from "./lru-cache.ts";
import { createNameFilter } from "./name-filter.ts";
import { isRootKey, keyAbove, keyOfName, type NameKey, nameOfKey } from "./name-key.ts";
import type { NegativeAuthority } from "./negative-authority.ts";
import { UnsignedZones } from "./unsigned-zones.ts";
import { ZonesWithoutContent } from "./without-content.ts";
import {
  type BeginZone,
  type ExpectedZone,
  isNews,
  NoContent,
  type ZoneEvent,
  type ZoneNews,
  type ZoneSource,
} from "./zone-source.ts";

export type LoadedZone = {
  readonly view: ZoneView;
  /**
   * Answers that were prepared from its view are valid only while it is current. `unsigned`: queries wait for its next
   * version. `old`: it is no longer kept up to date.
   */
  state: "current" | "unsigned" | "old";
  /** Incremented when a zone below it is created or deleted: names may then belong to another zone. */
  belowVersion: number;
  /** It was queried since `makeRoom` last looked at it. */
  used: boolean;
  /**
   * The authority section of its unsigned negative answers; made when first needed, and again when the SOA has changed.
   */
  negativeAuthority: NegativeAuthority | undefined;
};

/** A load is never given up: it ends when the source has answered, and only queries stop waiting for it. */
type Loading = {
  readonly whole: Promise<LoadedZone | undefined>;
  readonly forQueries: Promise<LoadedZone | undefined>;
  readonly missed: ZoneNews[];
};

/** Who needs a zone: queries wait for `LoadLimits.wait`, transfers until it is loaded. */
type Need = "query" | "transfer";

/** Larger zones, in sets, are built in parts. */
const largeZone = 1_000;

/** How often a query or load is restarted because zones were created or deleted meanwhile. */
const tries = 4;

/** After this many failures in a row the source is down, and the other zones are loaded when they are asked for. */
const mostFailures = 3;

/** The most zones in use that are skipped before one is dropped. */
const secondChances = 32;

/** The zones that were queried, each kept up to date from then on. */
export class LoadedZones {
  readonly #source: ZoneSource;
  readonly #limits: LoadLimits;
  readonly #zones = new Map<NameKey, LoadedZone>();
  readonly #loading = new Map<string, Loading>();
  readonly #schedule = new FairSchedule();
  readonly #absent: ReturnType<typeof createLruCache<true>>;
  readonly #withoutContent: ZonesWithoutContent;
  readonly #lastKnown: LastKnownZones<LoadedZone>;
  readonly #unsigned: UnsignedZones;
  /** Never forgets a name: a zone that was deleted is looked up once. */
  readonly #names: ReturnType<typeof createNameFilter>;
  /** Whether the names are complete, and whether they ever were. */
  #hasAllNames = false;
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
    this.#withoutContent = new ZonesWithoutContent(limits.absent);
    this.#lastKnown = new LastKnownZones<LoadedZone>({ ...limits, onTrouble });
    this.#unsigned = new UnsignedZones(limits.wait);
    this.#names = createNameFilter(limits.seed);
  }

  /**
   * The zone that a name is in. A promise only when the source has to be asked, which rejects when that fails, or when
   * something that was written to the zone is not signed yet.
   */
  readonly find = (name: NameKey, need: Need = "query"): MaybeLater<LoadedZone | undefined> => {
    const zone = this.#find(name, need);
    if (!(zone instanceof Promise)) return zone?.state === "unsigned" ? this.#signed(zone, name, need) : zone;
    const last = this.#lastKnown.find(name, this.#zones, (other) => !this.#hadAllNames || this.#names.mayHold(other));
    const loaded = zone.then((each) => (each?.state === "unsigned" ? this.#signed(each, name, need) : each));
    return last === undefined ? loaded : this.#lastKnown.instead(last, loaded);
  };

  /** Whether `find` gives the zone of a name without a promise. */
  readonly isKnown = (name: NameKey): boolean => {
    const { unknown, nearest } = this.#search(name);
    return unknown === undefined && nearest?.state !== "unsigned";
  };

  /** Whether a name in wire format, in any case, is certainly not that of a zone. */
  readonly isNoZone = (bytes: Uint8Array, from: number, to: number): boolean =>
    this.#hasAllNames && !this.#names.mayHoldBytes(bytes, from, to);

  /** How many zones are in memory. */
  readonly count = (): number => this.#zones.size;

  /**
   * Loads zones before anybody asks for them, one after the other, as many as there is memory for. A failure is the
   * source's to report: the zone is loaded again when it is asked for.
   */
  readonly loadExpected = async (zones: readonly ExpectedZone[], signal?: AbortSignal): Promise<void> => {
    const { sets, unasked } = this.#limits;
    let failures = 0;
    for (const { name, records, wasAsked } of zones) {
      if (signal?.aborted || failures === mostFailures) return;
      const hasRoom = this.#setsInMemory + records <= (wasAsked ? sets : Math.min(sets, unasked));
      if (!hasRoom || this.#zones.has(keyOfName(name))) continue;
      failures = await this.#load(name, "transfer").then(
        () => 0,
        (error: unknown) => (error instanceof NoContent ? failures : failures + 1),
      );
    }
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
    let withoutContent: NoContent | undefined;
    const mayBeZone = this.#hasAllNames ? this.#names.mayHoldEnds(name) : undefined;
    // moor never serves the root zone.
    for (let start = 0; name.charCodeAt(start) > 0; start += 1 + name.charCodeAt(start)) {
      if (mayBeZone && !mayBeZone(start)) continue;
      const candidate = name.slice(start);
      nearest = this.#zones.get(candidate);
      if (nearest !== undefined) break;
      if (this.#absent.get(candidate) !== undefined) continue;
      withoutContent = this.#withoutContent.find(candidate);
      if (withoutContent !== undefined) break;
      unknown ??= [];
      unknown.push(candidate);
    }
    return { nearest, unknown, withoutContent };
  }

  #find(name: NameKey, need: Need, left = tries): MaybeLater<LoadedZone | undefined> {
    const { nearest, unknown, withoutContent } = this.#search(name);
    if (nearest && !nearest.used) this.#use(nearest);
    if (withoutContent !== undefined && unknown === undefined) throw withoutContent;
    return unknown === undefined ? nearest : this.#ask(name, unknown, nearest, need, left);
  }

  /** With everything that was written before this call. */
  async #signed(zone: LoadedZone, name: NameKey, need: Need): Promise<LoadedZone | undefined> {
    await this.#unsigned.wait(keyOfName(zone.view.name));
    return await this.#find(name, need);
  }

  #use(zone: LoadedZone): void {
    zone.used = true;
    this.#source.noteUse?.(zone.view.name);
  }

  #ask(name: NameKey, unknown: readonly NameKey[], nearest: LoadedZone | undefined, need: Need, left: number) {
    if (left === 0) throw new Error("zones are created and deleted faster than they can be looked up");
    const startGeneration = this.#generation;
    const settle = (closest: string | undefined): MaybeLater<LoadedZone | undefined> => {
      if (this.#generation !== startGeneration || nearest?.state === "old") return this.#find(name, need, left - 1);
      const closestKey = closest === undefined ? undefined : keyOfName(closest);
      for (const each of unknown) {
        if (each === closestKey) break;
        this.#absent.set(each, true);
        this.#lastKnown.forget(each);
      }
      if (closest === undefined || closestKey === undefined) return nearest;
      // Another query may have loaded it meanwhile; a second copy would replace that one, which would then miss
      // changes.
      return this.#zones.get(closestKey) ?? this.#load(closest, need);
    };
    const closest = this.#source.closest(unknown.map(nameOfKey));
    if (!(closest instanceof Promise)) return settle(closest);
    return (need === "query" ? within(this.#limits.find, closest) : closest).then(settle);
  }

  #load(name: string, need: Need): Promise<LoadedZone | undefined> {
    const { whole, forQueries } = this.#loading.get(name) ?? this.#beginLoad(name);
    return need === "query" ? forQueries : whole;
  }

  #beginLoad(name: string): Loading {
    const missed: ZoneNews[] = [];
    const whole = this.#read(name, missed)
      .catch((error: unknown) => {
        if (missed.length === 0) this.#withoutContent.note(keyOfName(name), error);
        throw error;
      })
      .finally(() => this.#loading.delete(name));
    const forQueries = within(this.#limits.wait, whole);
    // Whoever waits gets the error; it is none that nobody does.
    for (const each of [whole, forQueries]) each.catch(() => undefined);
    this.#loading.set(name, { whole, forQueries, missed });
    return { whole, forQueries, missed };
  }

  async #read(name: string, missed: ZoneNews[]): Promise<LoadedZone | undefined> {
    for (let i = 0; i < tries; i++) {
      let begun: ZoneView | undefined;
      const begin: BeginZone = (zone) => {
        const empty = emptyZoneView(zone);
        begun = empty;
        return (sets) => placeSets(empty, sets);
      };
      const content = await this.#source.load(name, begin);
      const view = content === undefined || isOver(missed) ? undefined : await this.#build(content, begun);
      // The content may be from before or after the change, so it is read again.
      if (isOutdated(missed)) {
        if (view && !isOver(missed)) this.#keepLast(view);
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

  /** Replaced while it was loaded: if nothing newer is known, that is better than no answer. */
  #keepLast(view: ZoneView): void {
    const zone: LoadedZone = { ...loadedZone(view), state: "old" };
    this.#lastKnown.keep(keyOfName(view.name), zone);
    this.#lastKnown.makeRoom(this.#setsInMemory);
  }

  #keep(view: ZoneView, missed: readonly ZoneNews[]): LoadedZone {
    const zone = loadedZone(view);
    const key = keyOfName(view.name);
    if (this.#unsigned.has(key)) zone.state = "unsigned";
    this.#zones.set(key, zone);
    this.#setsInMemory += zone.view.size;
    // Copied, because `apply` appends to `missed` while the zone counts as loading.
    for (const event of [...missed]) this.apply(event);
    this.#makeRoom(zone);
    return zone;
  }

  #drop(name: NameKey): void {
    const zone = this.#zones.get(name);
    if (zone === undefined) return;
    zone.state = "old";
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
      this.#withoutContent.clear();
      this.#unsigned.forget();
      for (const name of [...this.#zones.keys()]) this.#outdate(name);
      for (const { missed } of this.#loading.values()) missed.push(event);
      return;
    }
    const key = keyOfName(event.zone);
    if (event.kind === "unsigned" || event.kind === "signed") {
      this.#unsigned.note(key, event);
      const zone = this.#zones.get(key);
      if (zone) zone.state = this.#unsigned.has(key) ? "unsigned" : "current";
      return;
    }
    this.#loading.get(event.zone)?.missed.push(event);
    this.#withoutContent.forget(key);
    const isEnd = endsZone(event);
    if (isEnd) this.#unsigned.forget(key);
    if (isEnd || event.kind === "replaced") this.#forgetZone(key, isEnd);
    else if (event.kind === "changed") this.#change(event);
  };
}

const loadedZone = (view: ZoneView): LoadedZone => ({
  view,
  state: "current",
  belowVersion: 0,
  used: false,
  negativeAuthority: undefined,
});

const isOutdated = (missed: readonly ZoneNews[]): boolean =>
  missed.some((event) => event.kind !== "changed" || createsOrDeletesZone(event));

/** Nothing from before may be answered. */
const endsZone = (event: ZoneNews): boolean => event.kind === "withdrawn" || createsOrDeletesZone(event);
const isOver = (missed: readonly ZoneNews[]): boolean => missed.some(endsZone);

const createsOrDeletesZone = (event: ZoneNews): event is Extract<ZoneNews, { kind: "changed" }> =>
  event.kind === "changed" &&
  event.changes.some((change) => change.type === "SOA" && change.owner === apex && change.kind !== "replace");
