import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../core/instant.ts";
import { jittered } from "../core/updates/back-off.ts";
import type { UpdaterConfig } from "./config/config.ts";
import { type InterruptibleSleep, remaining } from "./interruptible-sleep.ts";
import type { Reporter } from "./report/reporter.ts";
import { managedRecordsOf } from "./round/managed-records.ts";
import type { PlannedUpdate } from "./round/plan.ts";
import { previewRound } from "./round/preview.ts";
import { type Removal, removeRecords } from "./round/remove-records.ts";
import type { Round } from "./round/result.ts";
import { longestPause } from "./round/schedule.ts";
import { openSourcesAndTargets, type ServiceTools, type SourcesAndTargets } from "./round/sources-and-targets.ts";
import type { SourceReader } from "./sources/source-reader.ts";
import { type StepTools, type StopSignals, UpdaterSteps } from "./steps.ts";

/**
 * The updater from top to bottom: read the sources, choose and plan, write and remember, report. `Watch` runs the
 * steps: each source is read in its own loop and each record service has its own queue, so a slow one never delays
 * another. `steps.ts` holds the steps. `round/name-state.ts` defines the states that each name and family goes through.
 */
export type Updater = {
  /** All steps once, for all names; waits until all writes have ended. */
  round(signal: AbortSignal): Promise<Round>;
  /**
   * Runs until the signal aborts, then waits for the writes under way. These are aborted too, unless `writes` says
   * when.
   */
  watch(options: WatchOptions, signal: AbortSignal, writes?: AbortSignal): Promise<void>;
  /**
   * Someone wants a check now: reads every source and retries what failed. A service that sent a Retry-After gets one
   * request.
   */
  readonly retryNow: () => void;
  /**
   * Reads that record now, and puts the wanted address back if it holds another. False if there is no such
   * record.
   */
  readonly putBack: (displayName: string) => boolean;
  /** The devices that each source has reported. */
  readonly devices: () => ReadonlyMap<string, readonly { readonly device: string; readonly isDown: boolean }[]>;
  /** Reads and plans; sends and stores nothing. */
  plan(signal: AbortSignal): Promise<readonly PlannedUpdate[]>;
  /** What a round would do, as far as reading the records shows; writes and stores nothing. */
  preview(signal: AbortSignal): Promise<Pick<Round, "readings" | "results">>;
  /** What a record holds, unless its service sent a Retry-After. */
  readonly published: SourcesAndTargets["readRecord"];
  /** Removes the records of names with `removeOnStop` that still hold what was written. */
  remove(signal: AbortSignal): Promise<readonly Removal[]>;
  close(): void;
};

export type WatchOptions = {
  readonly reporter: Reporter;
  /** Called with each round, and with the time of the next one at the latest. */
  readonly onRound?: (round: Round, next: Instant) => void;
  /** Milliseconds between two readings of a source that does not push. Default: from the config. */
  readonly interval?: number;
  /** Milliseconds after which finished writes are reported although other record services are still busy. */
  readonly patience?: number;
};

export async function openUpdater(config: UpdaterConfig, tools: Omit<StepTools, "interval">): Promise<Updater> {
  const records = managedRecordsOf(config);
  const services = await openSourcesAndTargets(config, records, tools);
  const { readers } = services;
  const steps = new UpdaterSteps(records, services, { interval: config.interval, ...tools });
  const readAll = (signal: AbortSignal) => Promise.all([...readers.values()].map((reader) => reader.read(signal)));
  return {
    async round(signal) {
      await readAll(signal);
      for (const source of readers.keys()) await steps.decide(source, { signal, writes: signal });
      await steps.written();
      return steps.collect();
    },
    watch: (options, signal, writes = signal) =>
      new Watch(steps, { interval: config.interval, ...tools, ...options }, { signal, writes, reads: true }).run(),
    retryNow: () => steps.check(),
    putBack: (displayName) => steps.putBack(displayName),
    devices: () => devicesIn(readers),
    async plan(signal) {
      await readAll(signal);
      return steps.plan();
    },
    async preview(signal) {
      await readAll(signal);
      const results = await previewRound(steps.plan(), services, tools.state, signal);
      return { readings: steps.readings(), results };
    },
    published: services.readRecord,
    remove: (signal) =>
      removeRecords(
        records.filter(({ removeOnStop, paused }) => removeOnStop && !paused),
        services,
        tools.state,
        signal,
      ),
    close: services.close,
  };
}

/** Milliseconds: a source is never read more often than this, however short its back-off. */
const shortestPause = 250;
const usualPatience = 5_000;

type WatchSettings = WatchOptions & Omit<ServiceTools, "state"> & { readonly interval: number };

/** Repeats the steps: one loop per source, and one that reports. */
class Watch {
  readonly #steps: UpdaterSteps;
  readonly #settings: WatchSettings;
  readonly #stop: StopSignals;
  /** Milliseconds until the next turn of each loop. */
  readonly #pauses = new Map<string, () => number>();

  constructor(steps: UpdaterSteps, settings: WatchSettings, stop: StopSignals) {
    this.#steps = steps;
    this.#settings = settings;
    this.#stop = stop;
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    const { sources, reportSleep } = this.#steps;
    const wakeAll = () => {
      reportSleep.wake();
      for (const { sleep } of sources.values()) sleep.wake();
    };
    signal.addEventListener("abort", wakeAll, { once: true });
    const loops = [...sources].flatMap(([source, { reader, sleep }]) => [
      reader.follow(() => sleep.wake(), signal),
      this.#keepReading(source, reader, sleep),
    ]);
    await Promise.all([...loops, this.#keepReporting()]);
    await this.#steps.written();
    // Finished writes are not repeated, so this is the last chance to report them.
    this.#settings.reporter.reportDone(this.#steps.collect());
  }

  async #keepReading(source: string, reader: SourceReader, sleep: InterruptibleSleep): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await reader.read(signal);
      if (signal.aborted) return;
      await this.#steps.decide(source, this.#stop);
      const left = this.#pauseOf(source, reader);
      this.#pauses.set(source, left);
      this.#steps.reportSleep.wake();
      await sleep.sleep(left);
    }
  }

  /** The time until the source is read again, or one of its names is due. */
  #pauseOf(source: string, reader: SourceReader): () => number {
    const { interval, now, random } = this.#settings;
    const regular = remaining(reader.isPushing() ? longestPause : jittered(interval, random()));
    const shortest = remaining(shortestPause);
    return () => {
      const due = this.#steps.due(source);
      return Math.max(shortest(), due === undefined ? regular() : Math.min(regular(), due - now()));
    };
  }

  async #keepReporting(): Promise<void> {
    const { signal } = this.#stop;
    const { reporter, patience = usualPatience } = this.#settings;
    const { sources, reportSleep } = this.#steps;
    // The first report comes early, even if no source has answered yet.
    for (let longest = patience; !signal.aborted; longest = longestPause) {
      await reportSleep.sleep(remaining(longest));
      await this.#writtenWithin(patience);
      // What the stop aborted is not a failure.
      if (signal.aborted) return;
      reportSleep.forget();
      const round = this.#steps.collect();
      reporter.report(round);
      this.#settings.onRound?.(round, this.#nextRound());
      // A name may be due earlier now that its service has answered for another.
      for (const { sleep } of sources.values()) sleep.review();
    }
  }

  async #writtenWithin(patience: number): Promise<void> {
    const isOver = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, isOver.signal]);
    const slow = pause(patience, undefined, { signal }).catch(() => undefined);
    await Promise.race([this.#steps.written(), slow]);
    isOver.abort();
  }

  #nextRound(): Instant {
    const pauses = [...this.#steps.sources.keys()].map((source) => this.#pauses.get(source)?.() ?? 0);
    return this.#settings.now() + Math.max(0, Math.min(longestPause, ...pauses));
  }
}

const devicesIn = (readers: SourcesAndTargets["readers"]): ReturnType<Updater["devices"]> =>
  new Map(
    [...readers].map(([source, reader]) => {
      const latest = reader.latest();
      if (latest?.kind !== "report") return [source, []];
      return [source, [...latest.report].map(([device, { up }]) => ({ device, isDown: up === false }))];
    }),
  );
