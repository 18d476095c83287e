import { setTimeout as wait } from "node:timers/promises";

export type CoalesceOptions = {
  /** Milliseconds between the starts of two runs of `work`. */
  readonly spacing: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
};

/**
 * Many triggers cause few runs of `work`: the first starts one immediately, those that arrive meanwhile start one more
 * together. The last run always begins after the last trigger. `work` must not reject.
 */
export function coalesceTriggers(work: () => Promise<void>, { spacing, signal, now }: CoalesceOptions): () => void {
  let [isTriggered, isRunning, startedAt] = [false, false, Number.NEGATIVE_INFINITY];

  const run = async () => {
    while (isTriggered && !signal.aborted) {
      const pause = startedAt + spacing - now();
      if (pause > 0) {
        // Timers count from the start of the event loop's turn, so they may fire early.
        await wait(pause, undefined, { signal }).catch(() => undefined);
        continue;
      }
      isTriggered = false;
      startedAt = now();
      await work();
    }
    isRunning = false;
  };

  return () => {
    isTriggered = true;
    if (isRunning) return;
    isRunning = true;
    void run();
  };
}
