import { setTimeout as wait } from "node:timers/promises";

/**
 * Makes guessing slow: resolves after `delay` ms, and when `gone` aborts. Beyond `most` at once nobody waits: a flood must
 * not cost memory.
 */
export function createHoldBack(most: number): (delay: number, gone: AbortSignal) => Promise<void> {
  let waiting = 0;
  return async (delay, gone) => {
    if (waiting >= most) return;
    waiting += 1;
    try {
      await wait(delay, undefined, { signal: gone });
    } catch (error) {
      if (!gone.aborted) throw error;
    } finally {
      waiting -= 1;
    }
  };
}
