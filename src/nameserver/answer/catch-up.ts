/** Holds questions back while a write has not reached the nameserver yet: the first answer after a write must show it. */
export type CatchUp = {
  /** Everything up to this number has arrived. */
  readonly told: (number: number) => void;
  /** Undefined when there is nothing to wait for; rejects when it takes too long. What comes later is not waited for. */
  readonly wait: () => Promise<void> | undefined;
};

export type CatchUpOptions = {
  /** The number of what came last. Numbers count up, through 32 bits and around. */
  readonly latest: () => number;
  /** What has arrived already. */
  readonly start: number;
  /** Milliseconds to wait at most. */
  readonly limit: number;
};

type Waiting = { readonly until: Promise<void>; readonly end: () => void };

export function createCatchUp({ latest, start, limit }: CatchUpOptions): CatchUp {
  const waiting = new Map<number, Waiting>();
  let seen = start;
  const has = (number: number) => ((seen - number) | 0) >= 0;

  const begin = (number: number): Waiting => {
    const { promise: until, resolve, reject } = Promise.withResolvers<void>();
    const late = new Error(`the nameserver did not receive a write within ${limit} ms`);
    const timer = setTimeout(() => reject(late), limit);
    // By then the caller may be waiting for something later.
    until.catch(() => undefined);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const begun = { until, end };
    waiting.set(number, begun);
    return begun;
  };
  return {
    told: (number) => {
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
