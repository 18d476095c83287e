import type { Instant } from "../../core/instant.ts";
import type { SetKey } from "../../core/records/rrset.ts";
import type { EndWork } from "../../process/duties.ts";
import type { Logger } from "../../process/log.ts";
import { isAboutSigning, type LoggedRow, type SettingsChange, type Zone, type ZoneSettings } from "../model.ts";
import type { Signer } from "../signing/signer.ts";
import type { RecordStore } from "../store/port.ts";
import { forwardClock, type TokenBudgets } from "./open-accounts.ts";
import { ProviderAccounts } from "./provider-accounts.ts";
import { PublishedZoneWork, type RoundEnd } from "./publish-zone.ts";
import type { PublishingState } from "./publishing-metrics.ts";
import { changedBy } from "./waiting-serials.ts";

export type PublisherOptions = {
  readonly store: RecordStore;
  readonly signer: Pick<Signer, "decryptText">;
  readonly now: () => Instant;
  readonly random: () => number;
  readonly budgets?: TokenBudgets | undefined;
  readonly state?: PublishingState | undefined;
  readonly log: Logger;
  /** What is known about the sets of a zone at its provider has changed. */
  readonly changed: (zone: number) => void;
};

const rowsAtOnce = 1_000;
/** How often the log is read without being told of a change, and after it could not be read: other nodes write too. */
const readEvery = 5_000;
/** How often new tokens are looked for: another node may have stored them. */
const tokenEvery = 2_000;
/** A first fill, at any node, takes less than that from its note to the settings. */
const longestFill = 180_000;
/** How often notes of zones that are not published are looked for: a crash during a first fill leaves one. */
const strayEvery = 60_000;
/** After the store could not be used. */
const pause = 1_000;

/** Follows the change log, and publishes the zones that are to be published at a provider. Only one node may do it. */
export function publishZones(options: PublisherOptions): EndWork {
  const publisher = new Publisher({ ...options, now: forwardClock(options.now) });
  return () => publisher.close();
}

type ZoneState = {
  readonly work: PublishedZoneWork;
  /** What is to be done before its sets are published. */
  needsComparing: boolean;
  running: Promise<void> | undefined;
  /** Something came while it was running. */
  again: boolean;
  timer: NodeJS.Timeout | undefined;
};

/**
 * In milliseconds: `retry` if nothing can be done before, `due` if nothing is to be done before, unless something
 * changes.
 */
type NextRound = { readonly retry?: number | undefined; readonly due?: number | undefined };

class Publisher {
  readonly #options: PublisherOptions;
  readonly #accounts: ProviderAccounts;
  readonly #ended = new AbortController();
  readonly #zones = new Map<number, ZoneState>();
  readonly #unfollow: () => void;
  readonly #timers: NodeJS.Timeout[];
  #position = 0;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #isOpen = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#accounts = new ProviderAccounts({ ...options, recovered: () => this.#runAll() });
    this.#unfollow = options.store.onChange((rows) => this.#heard(rows));
    this.#timers = [
      setInterval(() => this.#read(), readEvery).unref(),
      setInterval(() => void this.checkForTokens(), tokenEvery).unref(),
      setInterval(() => void this.#endStray().catch(() => undefined), strayEvery).unref(),
    ];
    this.#read();
  }

  async close(): Promise<void> {
    this.#ended.abort();
    this.#unfollow();
    for (const timer of this.#timers) clearInterval(timer);
    for (const { timer } of this.#zones.values()) clearTimeout(timer);
    await this.#reading;
    await Promise.all([...this.#zones.values()].flatMap(({ running }) => running ?? []));
    this.#accounts.close();
    this.#options.state?.end();
  }

  /** Rows of this process come with the message, so that nothing is read for writes to other zones. */
  #heard(rows: readonly LoggedRow[] = []): void {
    const [first] = rows;
    if (this.#isOpen && this.#reading === undefined && first?.position === this.#position + 1) this.#pass(rows);
    else this.#read();
  }

  #read(): void {
    this.#readAgain = true;
    if (this.#reading !== undefined || this.#ended.signal.aborted) return;
    this.#reading = this.#readLog()
      .catch((error: unknown) => this.#options.log.warn({ err: error }, "the change log cannot be read; trying again"))
      .finally(() => {
        this.#reading = undefined;
      });
  }

  async #readLog(): Promise<void> {
    const { store } = this.#options;
    if (!this.#isOpen) await this.#open();
    // The first rows of a write whose other rows come with the next read: its action must not end before them.
    const begun: LoggedRow[] = [];
    while (this.#readAgain && !this.#ended.signal.aborted) {
      this.#readAgain = false;
      const rows = await store.changesAfter(begun.at(-1)?.position ?? this.#position, rowsAtOnce);
      const isFull = rows.length === rowsAtOnce;
      const last = rows.at(-1);
      const isOther = ({ zone, serial }: LoggedRow) => zone !== last?.zone || serial !== last.serial;
      const whole = isFull ? rows.findLastIndex(isOther) + 1 : rows.length;
      if (isFull) this.#readAgain = true;
      if (whole > 0 || !isFull) this.#pass([...begun.splice(0), ...rows.slice(0, whole)]);
      begun.push(...rows.slice(whole));
    }
  }

  async #open(): Promise<void> {
    const { store, now } = this.#options;
    this.#position = await store.lastChange();
    await store.endStrayPublishing(now(), noLonger);
    for (const [zone] of await store.publishedZones()) if (zone.settings.published) await this.#begin(zone, 0);
    this.#isOpen = true;
    await this.#endStray();
  }

  #pass(rows: readonly LoggedRow[]): void {
    for (const { zone, change } of rows) {
      if (change.kind === "settings" && (change.before.published ?? change.after.published) && !isAskedOnly(change))
        this.#settingsChanged(zone);
      if (change.kind === "delete" && change.type === "SOA" && this.#zones.has(zone)) this.#settingsChanged(zone);
    }
    for (const [zone, its] of this.#zones.size === 0 ? [] : Map.groupBy(rows, (row) => row.zone)) {
      const state = this.#zones.get(zone);
      if (state === undefined) continue;
      // New settings may change every set: the comparison finds out which, and what its action waits for.
      for (const [serial, same] of Map.groupBy(its, (row) => row.serial))
        if (!same.some(({ change }) => change.kind === "settings" && !isAskedOnly(change)))
          state.work.add(serial, same.flatMap(placesIn));
      this.#run(state);
    }
    this.#position = rows.at(-1)?.position ?? this.#position;
  }

  /** The zone is published from now on, or no longer, or in another way. */
  #settingsChanged(number: number): void {
    const state = this.#zones.get(number);
    if (state !== undefined) {
      state.needsComparing = true;
      this.#run(state);
      return;
    }
    const { store, log } = this.#options;
    const begin = async () => {
      const found = (await store.publishedZones()).find(([zone]) => zone.number === number);
      if (found?.[0].settings.published) await this.#begin(found[0]);
    };
    begin().catch((error: unknown) => {
      log.warn({ err: error }, "a zone could not be published yet; trying again");
      setTimeout(() => this.#settingsChanged(number), pause).unref();
    });
  }

  /**
   * `readAt`: 0 to read the zone soon. The provider may have changed, or the store may have been restored, since the
   * last run.
   */
  async #begin(zone: Zone, readAt?: Instant): Promise<void> {
    const { store } = this.#options;
    const noted = await store.publishedZone(zone.number);
    const note = noted && { ...noted, readAt: readAt ?? noted.readAt };
    if (note === undefined || this.#zones.has(zone.number) || this.#ended.signal.aborted) return;
    const options = { ...this.#options, position: () => this.#position };
    const work = new PublishedZoneWork(zone, note, options);
    const state = { work, needsComparing: true, running: undefined, again: false, timer: undefined };
    this.#zones.set(zone.number, state);
    this.#run(state);
  }

  #run(state: ZoneState): void {
    if (this.#ended.signal.aborted) return;
    if (state.running !== undefined) {
      state.again = true;
      return;
    }
    clearTimeout(state.timer);
    state.timer = undefined;
    state.again = false;
    state.running = this.#round(state)
      .catch((error: unknown): NextRound => {
        if (!this.#ended.signal.aborted)
          this.#options.log.warn({ err: error }, "a zone could not be published; trying again");
        return { retry: pause };
      })
      .then(({ retry, due }) => {
        state.running = undefined;
        if (this.#ended.signal.aborted || !this.#zones.has(state.work.number)) return;
        // A zone that was unpublished, or is published in another way, does not wait for the provider.
        const isUrgent = state.again && state.needsComparing;
        const wait = isUrgent ? 0 : (retry ?? (state.again ? 0 : due));
        if (wait === 0) this.#run(state);
        else if (wait !== undefined) state.timer = setTimeout(() => this.#run(state), Math.min(wait, longest)).unref();
      });
  }

  async #round(state: ZoneState): Promise<NextRound> {
    const { store, now } = this.#options;
    const { work } = state;
    const { signal } = this.#ended;
    // Before the zone is read: the settings of a later write are not compared yet.
    const isComparing = state.needsComparing;
    const serials = isComparing ? await store.publishingSerials(work.number) : [];
    const zone = await store.zoneBy(work.account, { number: work.number });
    const published = zone?.settings.published;
    if (zone === undefined || published === undefined) return await this.#end(work.number, state);
    if (isComparing) {
      state.needsComparing = false;
      await work.compare(zone, serials).catch((error: unknown) => {
        state.needsComparing = true;
        throw error;
      });
    }
    const account = await this.#accounts.get(published.provider);
    if (account === undefined) throw new Error(`the provider account ${published.name} does not exist`);
    const { retry } = await account.withPermit(() => work.publish(zone, published, account, signal), signal);
    const due = work.readDue(published) - now();
    // A set that fails again and again does not keep the zone from being read: a change there may be the reason.
    if (retry !== undefined && (due > 0 || account.wait(zone.name) > 0)) return { retry };
    if (due > 0 || state.again) return due === Number.POSITIVE_INFINITY ? {} : { due };
    const read: RoundEnd = await account.withPermit(() => work.readAll(zone, published, account, signal), signal);
    return { retry: read.retry ?? retry, due: work.isIdle ? Math.max(0, work.readDue(published) - now()) : 0 };
  }

  async #end(number: number, state?: ZoneState): Promise<NextRound> {
    await this.#endActions(number);
    await this.#options.store.forgetPublished(number);
    this.#zones.delete(number);
    this.#options.state?.waits(number, 0, this.#options.now());
    // It may have been published again since.
    if (state?.again) this.#settingsChanged(number);
    return {};
  }

  async #endActions(number: number): Promise<void> {
    const { store, now } = this.#options;
    await store.endPublishing(number, await store.publishingSerials(number), now(), noLonger);
  }

  /** Publishing may have ended while no node did this, or another node may be about to begin it. */
  async #endStray(): Promise<void> {
    const { store, now } = this.#options;
    for (const [{ number, settings }, { readAt }] of await store.publishedZones()) {
      if (settings.published || this.#zones.has(number)) continue;
      await (readAt + longestFill < now() ? this.#end(number) : this.#endActions(number));
    }
  }

  async checkForTokens(): Promise<void> {
    const isNew = await this.#accounts.hasNewToken().catch(() => false);
    if (isNew) this.#runAll();
  }

  #runAll(): void {
    for (const state of this.#zones.values()) this.#run(state);
  }
}

const noLonger = "the zone is no longer published at its provider";
/** A timer cannot wait longer than 24 days. */
const longest = 86_400_000;

const placesIn = ({ change }: LoggedRow): readonly SetKey[] => (isAboutSigning(change) ? [] : changedBy(change, []));

/** Only the state of some sets was asked for: no set has to be compared for that. */
const isAskedOnly = ({ before, after }: SettingsChange): boolean =>
  after.published?.asked !== before.published?.asked && sameButAsked(before) === sameButAsked(after);

const sameButAsked = ({ published, ...others }: ZoneSettings): string => {
  const { asked: _, askedFor: __, ...rest } = published ?? {};
  return JSON.stringify([others, rest]);
};
