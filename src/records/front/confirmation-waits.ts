import { setTimeout as sleep } from "node:timers/promises";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { Action, PublishedZone, Zone } from "../model.ts";
import { type Actor, permissionsAt } from "../queries/permitted-view.ts";
import type { RecordStore } from "../store/port.ts";
import { contentOf, isProviders, isReadableContent, shownState, stateOf, ttlsOf } from "./set-state.ts";
import { type SetStateView, type StateStore, stateReads } from "./state-operations.ts";

/**
 * The provider refused what was written, or somebody changed it there. It is stored here. The APIs answer with the
 * message.
 */
class NotPublished extends Error {
  readonly statusCode = 422;
}

/** What a write was about: these sets; or those of its names that the actor may see (undefined: of all names). */
export type WrittenPlaces = {
  readonly zone: number;
  readonly places: readonly SetKey[] | { readonly owners: readonly string[] | undefined };
};

export type WaitOptions = {
  /** Calls back when something about a published zone was stored in this process. */
  readonly onPublished: (listener: (zone: number) => void) => () => void;
  /** Milliseconds between two reads of a zone's note: another node may be the one that publishes. */
  readonly noteEvery?: number | undefined;
};

type WaitStore = Pick<RecordStore, "actions" | "zoneBy" | "publishedZone"> & StateStore;

const usualNoteEvery = 250;
/** Milliseconds after which a zone is looked at although there is no news of it. */
const lookEvery = 5_000;
/** Sets that are read in one look, for all who wait for the zone. */
const mostPerLook = 500;
/** A pause after each look, as a multiple of the time that it took: looks never take more than a tenth of the time. */
const pauseFactor = 9;
/** Milliseconds. */
const longestPause = 2_000;
/** Milliseconds between the first two reads of an action. */
const firstPause = 5;

type WaitLimit = { readonly actor: Actor; readonly until: number; readonly longest: number };

type Waiting = WaitLimit & {
  /** What was not published at the last look; undefined until that is known. */
  left: Map<string, SetKey> | undefined;
  readonly places: WrittenPlaces["places"];
  readonly end: (error?: Error) => void;
};

/**
 * Requests that wait until a provider has what they wrote. However many wait for a zone, it is looked at once for all
 * of them, and only after news of it.
 */
export class ConfirmationWaits {
  readonly #store: WaitStore;
  readonly #options: WaitOptions;
  readonly #zones = new Map<number, ZoneWaits>();

  constructor(store: WaitStore, options: WaitOptions) {
    [this.#store, this.#options] = [store, options];
  }

  /**
   * `longest`: milliseconds for all of them, and then for the end of the action, which is returned as it has ended.
   * Rejects if the provider refuses one, or does not have it in time.
   */
  async wait(
    actor: Actor,
    written: readonly WrittenPlaces[],
    longest: number,
    action: Action | undefined,
  ): Promise<Action | undefined> {
    const until = performance.now() + longest;
    for (const { zone, places } of written) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
      this.#waitsFor(zone, actor).add({ actor, places, left: undefined, until, longest, end });
      await promise;
    }
    return action && (await this.#ended(actor, action, { actor, until, longest }));
  }

  /** The publisher stores the end of an action a moment after what it has stored of the sets. */
  async #ended({ account }: Actor, action: Action, limit: WaitLimit): Promise<Action> {
    const { noteEvery = usualNoteEvery } = this.#options;
    const query = { ids: [action.id], page: 1, perPage: 1 };
    for (let pause = firstPause; ; pause = Math.min(noteEvery, pause * 2)) {
      const [now = action] = (await this.#store.actions(account, { ...query, now: Date.now() })).items;
      if (now.status === "error") throw new NotPublished(`stored, but not published: ${now.error}`);
      if (now.status === undefined) return now;
      const late = lateness(limit);
      if (late) throw late;
      await sleep(pause);
    }
  }

  #waitsFor(zone: number, { account }: Actor): ZoneWaits {
    const waits = this.#zones.get(zone) ?? new ZoneWaits({ number: zone, account }, this.#store, this.#options);
    this.#zones.set(zone, waits);
    waits.onIdle = () => this.#zones.delete(zone);
    return waits;
  }
}

/** Those who wait for one zone. */
class ZoneWaits {
  onIdle = (): void => {};
  readonly #zone: Pick<Zone, "number" | "account">;
  readonly #store: WaitStore;
  readonly #options: WaitOptions;
  readonly #states: ReturnType<typeof stateReads>;
  readonly #waiting = new Set<Waiting>();
  /** The zone's note as it was at the last look. */
  #note = "";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isRunning = false;
  #hasNews = false;
  #wake = (): void => {};

  constructor(zone: Pick<Zone, "number" | "account">, store: WaitStore, options: WaitOptions) {
    [this.#zone, this.#store, this.#options] = [zone, store, options];
    this.#states = stateReads(store, permissionsAt(Date.now));
  }

  add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#news();
    if (!this.#isRunning) void this.#run();
  }

  #news(): void {
    this.#hasNews = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const stop = this.#options.onPublished((zone) => {
      if (zone === this.#zone.number) this.#news();
    });
    while (this.#waiting.size > 0) {
      const begun = performance.now();
      await this.#lookIfNews().catch((error: Error) => this.#endAll(error));
      this.#endLate();
      const pause = Math.min(longestPause, (performance.now() - begun) * pauseFactor);
      if (this.#waiting.size > 0) await this.#pause(pause);
    }
    stop();
    this.#isRunning = false;
    this.onIdle();
  }

  /** At least `shortest`, and then until there is news, or the note of the zone is to be read again. */
  async #pause(shortest: number): Promise<void> {
    const { noteEvery = usualNoteEvery } = this.#options;
    await sleep(shortest);
    if (this.#hasNews) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, noteEvery);
    await promise;
    clearTimeout(timer);
  }

  #end(waiting: Waiting, error?: Error): void {
    this.#waiting.delete(waiting);
    waiting.end(error);
  }

  #endAll(error: Error): void {
    for (const waiting of this.#waiting) this.#end(waiting, error);
  }

  /** Those whose time is over, or whose client has hung up. */
  #endLate(): void {
    for (const waiting of this.#waiting) {
      const late = lateness(waiting);
      if (late) this.#end(waiting, late);
    }
  }

  async #lookIfNews(): Promise<void> {
    const note = await this.#store.publishedZone(this.#zone.number);
    const text = JSON.stringify(note);
    const isDue = this.#hasNews || text !== this.#note || performance.now() > this.#lookedAt + lookEvery;
    if (!isDue) return;
    // Before the sets are read: what is stored from now on is news.
    this.#hasNews = false;
    [this.#note, this.#lookedAt] = [text, performance.now()];
    const zone = await this.#store.zoneBy(this.#zone.account, { number: this.#zone.number });
    if (!zone?.settings.published) return this.#endAll(new NotPublished(noLongerPublished));
    if (note !== undefined) await this.#look(zone, note);
  }

  async #look(zone: Zone, note: PublishedZone): Promise<void> {
    await this.#learnPlaces(zone, note);
    const known = [...this.#waiting].filter(({ left }) => left !== undefined);
    const each = Math.max(1, Math.floor(mostPerLook / known.length));
    const looked = known.map((waiting) => [waiting, [...(waiting.left?.values().take(each) ?? [])]] as const);
    const outcomes = await this.#outcomes(
      zone,
      note,
      looked.flatMap(([, places]) => places),
    );
    for (const [waiting, places] of looked) {
      const keys = places.map(keyOf);
      const failed = keys.map((key) => outcomes.get(key)).find((outcome) => outcome?.kind === "failed");
      for (const key of keys) if (outcomes.get(key)?.kind === "published") waiting.left?.delete(key);
      if (failed?.kind === "failed") this.#end(waiting, new NotPublished(failed.because));
      else if (waiting.left?.size === 0) this.#end(waiting);
      // The next ones may be published too.
      else if (keys.every((key) => outcomes.get(key)?.kind === "published")) this.#hasNews = true;
    }
  }

  /** Which sets they wait for. A whole zone is read once for all of them, when nothing of it waits any more. */
  async #learnPlaces(zone: Zone, note: PublishedZone): Promise<void> {
    const noted = { zone, note };
    let all: readonly SetKey[] | undefined;
    for (const waiting of this.#waiting) {
      const { actor, left, places } = waiting;
      if (left !== undefined) continue;
      if ("length" in places) waiting.left = mapOf(places);
      else if (places.owners !== undefined)
        waiting.left = mapOf(unpublished(await this.#states.statesAt(actor, noted, places.owners)));
      else if (note.waiting === 0) {
        all ??= await this.#allUnpublished(actor, noted);
        // The publisher may not have heard of the write yet.
        if (all.length <= mostPerLook) waiting.left = mapOf(all);
      }
    }
  }

  /** Who writes to a whole zone may see all of it. */
  async #allUnpublished(actor: Actor, noted: { readonly zone: Zone; readonly note: PublishedZone }) {
    const all: SetKey[] = [];
    for await (const part of this.#states.statesIn(actor, noted)) all.push(...unpublished(part));
    return all;
  }

  async #outcomes(
    zone: Zone,
    note: PublishedZone,
    places: readonly SetKey[],
  ): Promise<ReadonlyMap<string, PlaceOutcome>> {
    const owners = [...new Set(places.map(({ owner }) => owner))];
    if (owners.length === 0) return new Map();
    const sets = new Map((await this.#store.sets(zone, { owners })).map((set) => [keyOf(set), set]));
    const rows = new Map((await this.#store.publishedSetsAt(zone.number, owners)).map((row) => [keyOf(row), row]));
    const ttls = ttlsOf(zone, note.ttl);
    const outcomeOf = (key: string): PlaceOutcome => {
      const [ours, row] = [contentOf(sets.get(key), ttls), rows.get(key)];
      const state = stateOf(ours, row, ttls);
      // The rule of the zone decides in a moment.
      const isDecided = zone.settings.published?.drift === "ours" && row?.theirs !== undefined;
      if ("because" in state && !(isDecided && isReadableContent(row.theirs)))
        return { kind: "failed", because: `stored, but not published: ${state.because}` };
      return { kind: shownState(ours, row, zone, note) === "published" ? "published" : "waiting" };
    };
    return new Map(places.map((place) => [keyOf(place), outcomeOf(keyOf(place))]));
  }
}

type PlaceOutcome = { readonly kind: "published" | "waiting" } | { readonly kind: "failed"; readonly because: string };

const mapOf = (places: readonly SetKey[]): Map<string, SetKey> =>
  new Map(
    places.filter((place) => !isProviders(place)).map(({ owner, type }) => [keyOf({ owner, type }), { owner, type }]),
  );

const unpublished = (states: readonly SetStateView[]): readonly SetKey[] =>
  states.filter(({ state }) => state !== "published");

function lateness({ actor, until, longest }: WaitLimit): StoreBusy | undefined {
  if (actor.connection?.isClosed) return new StoreBusy("the client closed the connection", { isLogged: true });
  return performance.now() > until ? new StoreBusy(notYet(longest), { retryAfter: 10, isLogged: true }) : undefined;
}

const notYet = (longest: number): string => `it is stored, but not at the provider after ${longest / 1_000} seconds`;
const noLongerPublished = "stored, but the zone is no longer published at its provider";
