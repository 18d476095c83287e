import { setTimeout as wait } from "node:timers/promises";

export type HoldBackOptions = {
  readonly delay: number;
  /** Beyond so many at once nobody waits: a flood must not cost memory. */
  readonly most: number;
};

/** Makes guessing slow: resolves after the delay, at once when too many wait already, and when `gone` aborts. */
export function createHoldBack({ delay, most }: HoldBackOptions): (gone: AbortSignal) => Promise<void> {
  let waiting = 0;
  return async (gone) => {
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
