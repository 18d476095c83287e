import { setTimeout as wait } from "node:timers/promises";

export type FoldTriggers = {
  /** Milliseconds between the beginnings of two works. */
  readonly spacing: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
};

/**
 * Many triggers, few works: the first starts one at once, those that come meanwhile start one more together. Whenever the
 * triggers end, a work that began after the last of them follows. `work` must not reject.
 */
export function foldTriggers(work: () => Promise<void>, { spacing, signal, now }: FoldTriggers): () => void {
  let [owed, running, startedAt] = [false, false, Number.NEGATIVE_INFINITY];

  const run = async () => {
    while (owed && !signal.aborted) {
      const pause = startedAt + spacing - now();
      if (pause > 0) {
        // Timers count from the turn that they are set in, so they may come early.
        await wait(pause, undefined, { signal }).catch(() => undefined);
        continue;
      }
      owed = false;
      startedAt = now();
      await work();
    }
    running = false;
  };

  return () => {
    owed = true;
    if (running) return;
    running = true;
    void run();
  };
}
