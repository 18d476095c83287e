import type { Instant } from "../../core/instant.ts";
import type { Token } from "../model.ts";

export type UseCount = { readonly count: number; readonly last: Instant };
export type Counted = ReadonlyMap<number, UseCount>;

const flushEvery = 5_000;

/** Counts uses in memory and passes them on together, after a few seconds or on `flush`. It has no timer while idle. */
export function createUseCounter(give: (counted: Counted) => void) {
  let counted = new Map<number, { count: number; last: Instant }>();
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (counted.size === 0) return;
    const full = counted;
    counted = new Map();
    give(full);
  };

  return {
    flush,
    /** The uses that were not passed on yet. */
    get: (id: number): UseCount | undefined => counted.get(id),
    note: (id: number, now: Instant): void => {
      const useCount = counted.get(id);
      if (useCount === undefined) {
        counted.set(id, { count: 1, last: now });
        timer ??= setTimeout(flush, flushEvery).unref();
      } else {
        useCount.count += 1;
        useCount.last = now;
      }
    },
  };
}

/** The token as it will be when its counted uses are written. */
export const withUses = (token: Token, counted: UseCount | undefined): Token =>
  counted === undefined ? token : { ...token, uses: token.uses + counted.count, lastUsed: counted.last };
