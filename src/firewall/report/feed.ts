import { coalesceTriggers } from "../../lib/kernel/coalesce-triggers.ts";
import type { Logger } from "../../process/log.ts";
import type { Snapshot } from "./report.ts";
import { sameReport } from "./same-report.ts";

/** The report, with the id of its last change. */
export type FeedState = { readonly id: string; readonly snapshot: Snapshot };

export type ReportFeedOptions = {
  /** May return a reading that is a little old. */
  readonly readRecent: () => Promise<Snapshot>;
  /** Always starts a new reading. */
  readonly readNow: () => Promise<Snapshot>;
  /** Calls back when something may have changed, until the signal aborts. */
  readonly watch: (onChange: () => void, signal: AbortSignal) => Promise<void>;
  /** Makes the ids of this start different from those of any other. */
  readonly epoch: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Milliseconds between two readings in a burst of changes. */
  readonly spacing?: number;
  /** Aborts on shutdown: readings that fail then are not errors. */
  readonly stopping?: AbortSignal;
};

export type ReportFeed = ReturnType<typeof createReportFeed>;

export function createReportFeed(options: ReportFeedOptions) {
  const { readRecent, readNow, watch, epoch, log, now, spacing = 25, stopping } = options;
  const listeners = new Set<{ readonly listener: (state: FeedState) => void; readonly onLost: () => void }>();
  let [latest, changes, failing] = [undefined as FeedState | undefined, 0, false];
  let watching: AbortController | undefined;

  const take = (snapshot: Snapshot): FeedState => {
    // Readings overlap, so an older one may arrive later.
    if (latest !== undefined && (snapshot.takenAt < latest.snapshot.takenAt || sameReport(latest.snapshot, snapshot)))
      return latest;
    changes += 1;
    latest = { id: `${epoch}-${changes}`, snapshot };
    for (const { listener } of listeners) listener(latest);
    return latest;
  };

  const readKernel = async (signal: AbortSignal) => {
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
      coalesceTriggers(() => readKernel(signal), { spacing, signal, now }),
      signal,
    ).catch((error: unknown) => log.error({ err: error }, "stopped watching the kernel"));
  };

  return {
    /** The current state. */
    current: async (): Promise<FeedState> => take(await readRecent()),
    /**
     * Calls `listener` for every change from now on, and `onLost` when changes can no longer be detected. The kernel is
     * watched while there are listeners. Returns a function that stops following.
     */
    follow: (listener: (state: FeedState) => void, onLost: () => void): (() => void) => {
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
