import type { Instant } from "../core/instant.ts";
import { jittered } from "../core/updates/back-off.ts";
import type { SmallLog } from "../process/small-log.ts";
import { createReporter, type Reporter } from "./report/reporter.ts";
import { longestPause } from "./round/rhythm.ts";
import type { Round, Updater } from "./round/updater.ts";

export type WatchOptions = {
  /** Milliseconds between two rounds while all is well and some source does not push. */
  readonly interval: number;
  readonly log: SmallLog;
  readonly now: () => Instant;
  readonly random: () => number;
  /** Hands over what starts a round at once, whoever wants one; what has failed before is tried in it. */
  readonly onWake?: (wake: () => void) => void;
  /** Told how each round went, and when the next one begins at the latest. */
  readonly onRound?: (round: Round, next: Instant) => void;
  /** Remembers what was told already; without it, a new one on the log. */
  readonly reporter?: Reporter;
  /** Milliseconds after which a record service is not waited for: others may have something new meanwhile. */
  readonly patience?: number;
};

/** However short a back-off turns out, a failing service is not asked more often than this. */
const shortestPause = 250;
const usualPatience = 5_000;

/** Runs rounds until the signal says stop; returns when the last one has ended. */
export async function watch(updater: Updater, options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { reporter = createReporter(options.log), patience = usualPatience } = options;
  const sleeper = createSleeper(signal);
  options.onWake?.(() => {
    updater.hurry();
    sleeper.wake();
  });
  const following = updater.follow(sleeper.wake, sleeper.ended, signal);
  let nextLook = 0;
  while (!signal.aborted) {
    const looks = sleeper.roundBegins() !== "ended" || performance.now() >= nextLook;
    const round = await updater.round(signal, { enough: () => sleeper.sleep(patience), looks });
    // What a stop broke off is no failure to report; what was done before it is not done again, and so told now or never.
    if (signal.aborted) {
      reporter.reportDone(round);
      break;
    }
    reporter.report(round);
    const usual = pauseAfter(round, options);
    if (looks) nextLook = performance.now() + usual;
    const pause = Math.max(0, Math.min(usual, nextLook - performance.now()));
    options.onRound?.(round, options.now() + pause);
    await sleeper.sleep(pause);
  }
  reporter.reportDone(await updater.ended());
  await following;
}

function pauseAfter({ due, polled }: Round, { interval, now, random }: WatchOptions): number {
  const regular = polled.length === 0 ? longestPause : jittered(interval, random());
  if (due === undefined) return regular;
  return Math.min(regular, Math.max(shortestPause, due - now()));
}

/** A sleep that can be cut short, also by what happened since the round began that comes before it. */
function createSleeper(signal: AbortSignal) {
  let woken: "news" | "ended" | undefined;
  let end: () => void = () => undefined;
  const wake = () => {
    woken = "news";
    end();
  };
  /** Wakes for no more than to tell what a record service has ended. */
  const ended = () => {
    woken ??= "ended";
    end();
  };
  signal.addEventListener("abort", wake, { once: true });
  return {
    wake,
    ended,
    /** What it is for, when it does not come in its time. */
    roundBegins() {
      const why = woken;
      woken = undefined;
      return why;
    },
    /** Ends the sleep before it. */
    sleep(ms: number): Promise<void> {
      end();
      if (woken || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(() => end(), ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
