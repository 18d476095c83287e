import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { backOffDelay, jittered } from "../../core/updates/back-off.ts";
import type { AddressSource, FollowEnd, SourceReading } from "./source.ts";

/** The latest reading of one source: polled, or pushed while its stream is open. */
export type SourceReader = {
  /** Undefined before its first answer. */
  latest(): SourceReading | undefined;
  isPushing(): boolean;
  /** Polls and waits for the answer, unless the source pushes, failed too recently, or must not be polled yet. */
  read(signal: AbortSignal): Promise<void>;
  /** When it may be polled again, after a failure or if it must not be polled often. */
  retryAt(): Instant | undefined;
  /** Keeps its stream open until the signal aborts. `onNews`: it pushed, or it stopped pushing and has to be polled. */
  follow(onNews: () => void, signal: AbortSignal): Promise<void>;
  close(): void;
};

export type ReaderTools = {
  readonly pacing: Pacing;
  readonly now: () => Instant;
  readonly random: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/** A stream that ends sooner counts as failed. Otherwise one that ends after each snapshot would be reopened in a tight loop. */
const steadyAfter = 60_000;

export function createSourceReader(
  name: string,
  source: AddressSource,
  { pacing, now, random, clock = () => performance.now(), pause = sleepFor }: ReaderTools,
): SourceReader {
  let latest: SourceReading | undefined;
  let isPushing = false;
  /** The poll under way. */
  let asking: { readonly answered: Promise<void>; readonly obsolete: AbortController } | undefined;

  const retryAt = () => pacing.notBefore(name, now());
  const note = (reading: SourceReading) => {
    latest = reading;
    if (reading.kind === "unavailable") pacing.failed(name, now(), undefined, source.every);
    else if (source.every === undefined) pacing.succeeded(name);
    else pacing.rest(name, now(), source.every);
  };
  const ask = async (obsolete: AbortSignal, signal: AbortSignal) => {
    const reading = await source.read(AbortSignal.any([obsolete, signal]));
    // After a push, the answer may be older than what was pushed.
    if (!obsolete.aborted) note(reading);
  };
  const read = async (signal: AbortSignal): Promise<void> => {
    const wait = retryAt();
    if (isPushing || (wait !== undefined && now() < wait)) return;
    if (!asking) {
      const obsolete = new AbortController();
      asking = { obsolete, answered: ask(obsolete.signal, signal) };
    }
    const { answered, obsolete } = asking;
    await answered;
    if (asking?.answered === answered) asking = undefined;
    if (obsolete.signal.aborted) await read(signal);
  };
  return {
    latest: () => latest,
    isPushing: () => isPushing,
    read,
    retryAt,
    async follow(onNews, signal) {
      const news = () => {
        // A caller that waits for the poll continues with what was pushed.
        if (asking) asking.obsolete.abort();
        else onNews();
      };
      const stopPushing = () => {
        if (!isPushing) return;
        isPushing = false;
        news();
      };
      const hear = (reading: SourceReading) => {
        // Unreadable data is ignored; the poll that follows reports what is wrong.
        if (reading.kind !== "report") return stopPushing();
        isPushing = true;
        note(reading);
        news();
      };
      let failures = 0;
      while (!signal.aborted) {
        const opened = clock();
        const end = await source.follow(hear, signal);
        if (signal.aborted) return;
        stopPushing();
        failures = clock() - opened < steadyAfter ? failures + 1 : 1;
        await pause(delayAfter(end, failures, random), signal);
      }
    },
    close: () => source.close(),
  };
}

const streamBackOff = { base: 250, cap: 30_000 };
/** An upgrade may add a stream to a firewall that has none. */
const offerMayComeAfter = 3_600_000;

function delayAfter(end: FollowEnd, failures: number, random: () => number): number {
  if (end.kind === "not-offered") return jittered(offerMayComeAfter, random());
  const delay = backOffDelay(failures, 1, streamBackOff) + backOffDelay(failures, random(), streamBackOff);
  return Math.max(end.retry ?? 0, delay);
}

const sleepFor = (ms: number, signal: AbortSignal) =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);

const backOff = { base: 2_000, cap: 300_000 };

/** Back-off per key after a failure. Kept in memory: a manual restart tries immediately. */
export type Pacing = {
  notBefore(key: string, now: Instant): Instant | undefined;
  /** `unreached`: the place that could not be reached, if that was the reason. `longest`: another maximum, for this failure. */
  failed(key: string, now: Instant, unreached?: string, longest?: number): void;
  succeeded(key: string): void;
  /** The request succeeded, and must not be repeated for `ms` milliseconds. */
  rest(key: string, now: Instant, ms: number): void;
  /** The place was reached: ends the back-off of every key that failed because it could not be reached. */
  reached(place: string): void;
  /** Ends the back-offs of these keys, or all; the failures so far still count for the next one. */
  retryNow(keys?: readonly string[]): void;
};

/** `longest`: the maximum back-off in milliseconds. */
export function createPacing(random: () => number, longest = backOff.cap): Pacing {
  const { base, cap } = { ...backOff, cap: Math.min(backOff.cap, longest) };
  type Failure = {
    readonly count: number;
    readonly until: Instant;
    readonly unreached?: string | undefined;
    readonly longest: number;
  };
  const failures = new Map<string, Failure>();
  const retryNow = (keys: Iterable<string>, isMeant: (failure: Failure) => boolean = () => true) => {
    for (const key of keys) {
      const failure = failures.get(key);
      if (failure && isMeant(failure)) failures.set(key, { ...failure, until: 0 });
    }
  };
  return {
    notBefore(key, now) {
      const { until, longest = 0 } = failures.get(key) ?? {};
      // Further away than any back-off: the clock was set back.
      return until !== undefined && until - now <= longest ? until : undefined;
    },
    failed(key, now, unreached, longest = cap) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      const until = now + backOffDelay(count, random(), { base, cap: longest });
      failures.set(key, { count, until, unreached, longest });
    },
    succeeded: (key) => void failures.delete(key),
    rest: (key, now, ms) => void failures.set(key, { count: 0, until: now + ms, longest: ms }),
    reached: (place) => retryNow(failures.keys(), ({ unreached }) => unreached === place),
    retryNow: (keys) => retryNow(keys ?? failures.keys()),
  };
}
