import type { Logger } from "../../process/log.ts";
import { foldTriggers } from "../kernel/fold-triggers.ts";
import { sameReport } from "./same-report.ts";
import type { Snapshot } from "./snapshot.ts";

/** The report under the id of its last change. */
export type FeedState = { readonly id: string; readonly snapshot: Snapshot };

export type ReportFeed = {
  /** As it is now. */
  readonly current: () => Promise<FeedState>;
  /**
   * Hears of every change from now on, and when there is no telling whether anything changes; the kernel is watched while
   * somebody does. Returns the way to leave.
   */
  readonly follow: (listener: (state: FeedState) => void, onLost: () => void) => () => void;
};

export type FeedOptions = {
  /** May give a reading that is a little old. */
  readonly readRecent: () => Promise<Snapshot>;
  /** Begun after it was asked for. */
  readonly readNow: () => Promise<Snapshot>;
  /** Calls back when something may have changed, until the signal aborts. */
  readonly watch: (onChange: () => void, signal: AbortSignal) => Promise<void>;
  /** Sets the ids of this start apart from those of every other. */
  readonly epoch: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Milliseconds between two readings in a burst of changes. */
  readonly spacing?: number;
  /** Aborts when all of it is to end: readings fail then, and that is no fault. */
  readonly stopping?: AbortSignal;
};

export function createReportFeed(options: FeedOptions): ReportFeed {
  const { readRecent, readNow, watch, epoch, log, now, spacing = 25, stopping } = options;
  const listeners = new Set<{ readonly listener: (state: FeedState) => void; readonly onLost: () => void }>();
  let [latest, changes, failing] = [undefined as FeedState | undefined, 0, false];
  let watching: AbortController | undefined;

  const take = (snapshot: Snapshot): FeedState => {
    // Readings overlap: an older one that comes later says nothing.
    if (latest !== undefined && (snapshot.takenAt < latest.snapshot.takenAt || sameReport(latest.snapshot, snapshot)))
      return latest;
    changes += 1;
    latest = { id: `${epoch}-${changes}`, snapshot };
    for (const { listener } of listeners) listener(latest);
    return latest;
  };

  const look = async (signal: AbortSignal) => {
    try {
      take(await readNow());
      if (failing) log.info("the kernel can be read again");
      failing = false;
    } catch (error) {
      if (signal.aborted || stopping?.aborted) return;
      if (!failing) log.error({ err: error }, "the kernel cannot be read");
      failing = true;
      for (const { onLost } of listeners) onLost();
    }
  };

  const startWatching = () => {
    watching = new AbortController();
    const { signal } = watching;
    watch(
      foldTriggers(() => look(signal), { spacing, signal, now }),
      signal,
    ).catch((error: unknown) => log.error({ err: error }, "the kernel is not watched any more"));
  };

  return {
    current: async () => take(await readRecent()),
    follow: (listener, onLost) => {
      const entry = { listener, onLost };
      listeners.add(entry);
      if (watching === undefined) startWatching();
      return () => {
        listeners.delete(entry);
        if (listeners.size > 0) return;
        watching?.abort();
        watching = undefined;
      };
    },
  };
}
