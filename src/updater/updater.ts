import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../core/instant.ts";
import { jittered } from "../core/updates/back-off.ts";
import type { UpdaterConfig } from "./config/config.ts";
import { createNap, type Nap, remaining } from "./nap.ts";
import type { Reporter } from "./report/reporter.ts";
import { dueAt, earliest } from "./round/due.ts";
import { type NameEvent, type NameState, nextState } from "./round/name-state.ts";
import { type PlannedUpdate, planRound } from "./round/plan.ts";
import { previewRound } from "./round/preview.ts";
import { createRecall } from "./round/recall.ts";
import { type Removal, removeRecords } from "./round/remove-records.ts";
import type { Round, UpdateResult } from "./round/result.ts";
import { longestPause } from "./round/rhythm.ts";
import { openServiceQueues } from "./round/service-queue.ts";
import { openServices, type Services, type ServiceTools } from "./round/services.ts";
import { isFrom, originsOf, type Subject, subjectsOf } from "./round/subjects.ts";
import { withConfirmation, withTimeout, writeRecord } from "./round/write-record.ts";
import { companionsOf, placeOf, type WrittenTogether, writeTogether } from "./round/write-together.ts";
import type { SourceReader } from "./sources/source-reader.ts";

/**
 * The updater from top to bottom: read the sources, choose and plan, write and remember, report. `watch` runs the
 * steps: each source is read in its own loop and each record service has its own queue, so a slow one never delays another.
 * `openSteps` holds the steps. `round/name-state.ts` defines the states that each name and family goes through.
 */
export type Updater = {
  /** All steps once, for all names; waits until all writes have ended. */
  round(signal: AbortSignal): Promise<Round>;
  /** Runs until the signal aborts, then waits for the writes under way. These are aborted too, unless `writes` says when. */
  watch(options: WatchOptions, signal: AbortSignal, writes?: AbortSignal): Promise<void>;
  /**
   * Someone wants a check now: reads every source and retries what failed. A service that sent a Retry-After gets one request.
   */
  readonly check: () => void;
  /** Reads the record of that title now, and puts the wanted address back if it holds another. False if there is no such record. */
  readonly putBack: (title: string) => boolean;
  /** The devices that each source has reported. */
  readonly devices: () => ReadonlyMap<string, readonly { readonly device: string; readonly isDown: boolean }[]>;
  /** Reads and plans; sends and stores nothing. */
  plan(signal: AbortSignal): Promise<readonly PlannedUpdate[]>;
  /** What a round would do, as far as reading the records shows; writes and stores nothing. */
  preview(signal: AbortSignal): Promise<readonly UpdateResult[]>;
  /** What the record of a subject holds, unless its service sent a Retry-After. */
  readonly published: Services["published"];
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

export async function openUpdater(config: UpdaterConfig, tools: ServiceTools): Promise<Updater> {
  const subjects = subjectsOf(config);
  const services = await openServices(config, subjects, tools);
  const { readers } = services;
  const steps = openSteps(subjects, services, { interval: config.interval, ...tools });
  const readAll = (signal: AbortSignal) => Promise.all([...readers.values()].map((reader) => reader.read(signal)));
  return {
    async round(signal) {
      await readAll(signal);
      for (const source of readers.keys()) await steps.decide(source, { signal, writes: signal });
      await steps.written();
      return steps.collect();
    },
    watch: (options, signal, writes = signal) =>
      watch(steps, { interval: config.interval, ...tools, ...options }, { signal, writes }),
    check: () => steps.check(),
    putBack: (title) => steps.putBack(title),
    devices: () => devicesIn(readers),
    async plan(signal) {
      await readAll(signal);
      return steps.plan();
    },
    async preview(signal) {
      await readAll(signal);
      return previewRound(steps.plan(), services, tools.state, signal);
    },
    published: services.published,
    remove: (signal) =>
      removeRecords(
        subjects.filter(({ removeOnStop, paused }) => removeOnStop && !paused),
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

/** `signal`: no write starts any more. `writes`: those under way are aborted. */
type Ends = { readonly signal: AbortSignal; readonly writes: AbortSignal };

type Watching = WatchOptions & Omit<ServiceTools, "state"> & { readonly interval: number };

/** Repeats the steps: one loop per source, and one that reports. */
async function watch(steps: Steps, options: Watching, ends: Ends): Promise<void> {
  const { signal } = ends;
  const { reporter, onRound, interval, now, random, patience = usualPatience } = options;
  const { sources, news } = steps;
  /** Milliseconds until the next turn of each loop. */
  const pauses = new Map<string, () => number>();

  const keepReading = async (source: string, reader: SourceReader, nap: Nap): Promise<void> => {
    while (!signal.aborted) {
      await reader.read(signal);
      if (signal.aborted) return;
      await steps.decide(source, ends);
      const left = pauseOf(source, reader);
      pauses.set(source, left);
      news.wake();
      await nap.sleep(left);
    }
  };
  /** The time until the source is read again, or one of its names is due. */
  const pauseOf = (source: string, reader: SourceReader): (() => number) => {
    const regular = remaining(reader.isPushing() ? longestPause : jittered(interval, random()));
    const shortest = remaining(shortestPause);
    return () => {
      const due = steps.due(source);
      return Math.max(shortest(), due === undefined ? regular() : Math.min(regular(), due - now()));
    };
  };
  const keepReporting = async (): Promise<void> => {
    // The first report comes early, even if no source has answered yet.
    for (let longest = patience; !signal.aborted; longest = longestPause) {
      await news.sleep(remaining(longest));
      const isOver = new AbortController();
      const slow = pause(patience, undefined, { signal: AbortSignal.any([signal, isOver.signal]) });
      await Promise.race([steps.written(), slow.catch(() => undefined)]);
      isOver.abort();
      // What the stop aborted is not a failure.
      if (signal.aborted) return;
      news.forget();
      const round = steps.collect();
      reporter.report(round);
      const next = Math.min(longestPause, ...[...sources.keys()].map((source) => pauses.get(source)?.() ?? 0));
      onRound?.(round, now() + Math.max(0, next));
      // A name may be due earlier now that its service has answered for another.
      for (const { nap } of sources.values()) nap.review();
    }
  };

  const wakeAll = () => {
    news.wake();
    for (const { nap } of sources.values()) nap.wake();
  };
  signal.addEventListener("abort", wakeAll, { once: true });
  const loops = [...sources].flatMap(([source, { reader, nap }]) => [
    reader.follow(nap.wake, signal),
    keepReading(source, reader, nap),
  ]);
  await Promise.all([...loops, keepReporting()]);
  await steps.written();
  // Finished writes are not repeated, so this is the last chance to report them.
  reporter.reportDone(steps.collect());
}

type Steps = ReturnType<typeof openSteps>;

function openSteps(
  subjects: readonly Subject[],
  { readers, sourcePacing, schedule, targetOf, serviceOf }: Services,
  { state, now, interval }: ServiceTools & { readonly interval: number },
) {
  const recall = createRecall();
  const queues = openServiceQueues(serviceOf);
  const sources = new Map([...readers].map(([source, reader]) => [source, { reader, nap: createNap() }]));
  /** Wakes the loop that reports. */
  const news = createNap();
  let unsaved: { readonly code: string; readonly retryAt: Instant } | undefined;
  let isStateShared = false;

  // Read.
  const readings = () => new Map([...readers].flatMap(([name, reader]) => readingOf(name, reader)));

  // Choose and plan, from the latest reading of each source.
  const plan = (some: readonly Subject[] = subjects): readonly PlannedUpdate[] =>
    planRound(some, { readings: readings(), state, recall, now: now(), notBefore: schedule.notBefore });

  const names = new Map(plan().map((latest): [Subject, NameState] => [latest.subject, { kind: "unread", latest }]));
  /** Since the last round: finished writes, and names whose state has changed. */
  const finished: UpdateResult[] = [];
  const moved = new Set<Subject>();

  const decide = async (source: string, ends: Ends): Promise<void> => {
    await saveAndMerge();
    for (const update of plan(subjects.filter((subject) => isFrom(subject, source)))) {
      happened(update.subject, { kind: "planned", update }, ends);
    }
  };
  const happened = (subject: Subject, event: NameEvent, ends: Ends): void => {
    const before = names.get(subject);
    if (!before) return;
    const { state: after, action } = nextState(before, event);
    names.set(subject, after);
    if (after !== before) moved.add(subject);
    if (event.kind === "ended") finished.push(event.result);
    if (action === "enqueue" && after.kind === "queued") {
      const place = placeOf(after, targetOf(subject).replaceAll !== undefined);
      queues.add(subject, () => write(subject, ends), place);
    }
    if (action === "look-again") for (const origin of originsOf(subject)) sources.get(origin.source)?.nap.wake();
  };

  // Write when it is the name's turn at its service, and store the outcome. Where the service can, all names of its zone that
  // wait there are written in one transaction; their own turns then find nothing left to do.
  const write = async (subject: Subject, ends: Ends): Promise<void> => {
    // First, all names that were planned together join the queue.
    await Promise.resolve();
    const current = names.get(subject);
    if (current?.kind !== "queued") return;
    if (ends.signal.aborted) return happened(subject, { kind: "stopped" }, ends);
    const admission = schedule.admit(subject, queued);
    if (admission.kind === "hold") return happened(subject, { ...admission, kind: "held" }, ends);
    const sending = send(admission.subject, ends);
    // If another name was sent instead, this one has to wait.
    if (admission.subject !== subject) await write(subject, ends);
    await sending;
  };
  const queued = () => [...names].filter(([, { kind }]) => kind === "queued").map(([subject]) => subject);
  const send = async (subject: Subject, ends: Ends): Promise<void> => {
    const current = names.get(subject);
    if (current?.kind !== "queued") return;
    const target = targetOf(subject);
    const updates = target.replaceAll ? companionsOf(current, names.values()) : [current.latest];
    for (const update of updates) happened(update.subject, { kind: "turn" }, ends);
    const tools = { target, state, recall, now };
    const written =
      updates.length > 1
        ? await writeTogether(updates, tools, withTimeout(ends.writes))
        : [{ subject, result: await writeRecord(current.latest, tools, withTimeout(ends.writes)) }];
    await Promise.all(written.map(async ({ result }) => result && schedule.ended(result)));
    schedule.tried(subject);
    for (const each of written) ended(each, ends);
    news.wake();
  };
  const ended = ({ subject, result }: WrittenTogether, ends: Ends): void => {
    if (result?.unsaved !== undefined) unsaved = { code: result.unsaved, retryAt: now() + interval };
    const ending: NameEvent = result
      ? { kind: "ended", result: withConfirmation(result, ends.signal) }
      : { kind: "apart" };
    happened(subject, ending, ends);
  };
  /** Retries what an earlier write could not store on disk, and adopts what another process has stored. */
  const saveAndMerge = async (): Promise<void> => {
    try {
      isStateShared = (await state.flush()) || isStateShared;
      unsaved = undefined;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      unsaved = { code: code ?? message, retryAt: now() + interval };
    }
  };

  // Report: everything as it stands, and what changed.
  const collect = (): Round => {
    const results = [...names.values()].map(resultOf);
    const moves = results.filter(({ subject }) => moved.has(subject));
    const round = {
      readings: readings(),
      results,
      changed: [...new Set([...finished, ...moves])],
      due: earliest([...readers.keys()].map(due)),
      polled: [...readers.keys()].filter((source) => !readers.get(source)?.isPushing()),
      holds: schedule.longHolds(subjects.map(({ target }) => target)),
      ...(unsaved ? { unsaved: unsaved.code } : {}),
      stateShared: isStateShared,
    };
    finished.length = 0;
    moved.clear();
    isStateShared = false;
    return round;
  };
  /** When the names of a source must be planned again even without news from it. */
  const due = (source: string): Instant | undefined => {
    const facts = { state, recall, notBefore: schedule.notBefore, interval, now: now() };
    const dues = [...names].map(([subject, each]) =>
      isFrom(subject, source) ? dueAt(subject, each, facts) : undefined,
    );
    return earliest([...dues, readers.get(source)?.retryAt(), unsaved?.retryAt]);
  };

  const check = (): void => {
    sourcePacing.retryNow();
    schedule.allowOneTry();
    for (const { nap } of sources.values()) nap.wake();
  };

  const putBack = (title: string): boolean => {
    const subject = subjects.find((each) => each.title === title && !each.paused);
    if (!subject) return false;
    recall.ask(subject.key);
    schedule.allowOneTry();
    for (const origin of originsOf(subject)) sources.get(origin.source)?.nap.wake();
    return true;
  };

  return { sources, news, plan, decide, written: queues.idle, collect, due, check, putBack };
}

const devicesIn = (readers: Services["readers"]): ReturnType<Updater["devices"]> =>
  new Map(
    [...readers].map(([source, reader]) => {
      const latest = reader.latest();
      if (latest?.kind !== "report") return [source, []];
      return [source, [...latest.report].map(([device, { up }]) => ({ device, isDown: up === false }))];
    }),
  );

const readingOf = (name: string, reader: SourceReader) => {
  const latest = reader.latest();
  return latest ? [[name, latest] as const] : [];
};

const resultOf = ({ kind, latest }: NameState): UpdateResult =>
  kind === "queued" || kind === "writing" ? { ...latest, underWay: true } : latest;
