import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { jittered } from "../core/back-off.ts";
import type { Instant } from "../core/instant.ts";
import { createReporter } from "./reporter.ts";
import type { Updater } from "./updater.ts";

export type WatchOptions = {
  /** Milliseconds between two rounds while all is well. */
  readonly interval: number;
  readonly log: Logger;
  readonly now: () => Instant;
  readonly random: () => number;
};

/** However short a back-off turns out, a failing service is not asked more often than this. */
const shortestPause = 250;

/** Runs rounds until the signal says stop; returns when the last one has ended. */
export async function watch(updater: Updater, options: WatchOptions, signal: AbortSignal): Promise<void> {
  const reporter = createReporter(options.log);
  while (!signal.aborted) {
    const round = await updater.round(signal);
    // What a stop broke off is no failure to report.
    if (signal.aborted) return;
    reporter.report(round);
    await sleep(pauseAfter(round.due, options), undefined, { signal }).catch(() => undefined);
  }
}

function pauseAfter(due: Instant | undefined, { interval, now, random }: WatchOptions): number {
  const regular = jittered(interval, random());
  if (due === undefined) return regular;
  return Math.min(regular, Math.max(shortestPause, due - now()));
}
