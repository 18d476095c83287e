/** Delays queries until earlier writes have reached the nameserver: the first answer after a write must show it. */
export type CatchUp = {
  /** Everything up to this number has arrived. */
  readonly reported: (number: number) => void;
  /** Waits for the writes so far, not for later ones, and not too long. Undefined when they have all arrived. */
  readonly wait: () => Promise<void> | undefined;
};

export type CatchUpOptions = {
  /** The number of the latest write. Numbers are 32-bit integers that wrap around. */
  readonly latest: () => number;
  /** The number of the last write that has arrived. */
  readonly start: number;
  /** The most milliseconds to wait. */
  readonly limit: number;
};

type PendingArrival = { readonly until: Promise<void>; readonly end: () => void };

export function createCatchUp({ latest, start, limit }: CatchUpOptions): CatchUp {
  const waiting = new Map<number, PendingArrival>();
  let seen = start;
  const has = (number: number) => ((seen - number) | 0) >= 0;

  const begin = (number: number): PendingArrival => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    // The last known answer is better than none. The source gives up much earlier if it is the database that does not
    // answer.
    const timer = setTimeout(resolve, limit);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const begun = { until, end };
    waiting.set(number, begun);
    return begun;
  };
  return {
    reported: (number) => {
      if (has(number)) return;
      seen = number;
      for (const [each, { end }] of waiting) {
        if (!has(each)) continue;
        waiting.delete(each);
        end();
      }
    },
    wait: () => {
      const number = latest();
      return has(number) ? undefined : (waiting.get(number) ?? begin(number)).until;
    },
  };
}
