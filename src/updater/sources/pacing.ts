import type { Instant } from "../../core/instant.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";

const backOff = { base: 2_000, cap: 300_000 };

/** Back-off per key after a failure. Kept in memory: a manual restart tries immediately. */
export type Pacing = {
  notBefore(key: string, now: Instant): Instant | undefined;
  /** `unreached`: the place that could not be reached, if that was the reason. `longest`: another maximum, for this failure. */
  failed(key: string, now: Instant, unreached?: string, longest?: number): void;
  succeeded(key: string): void;
  /** The request succeeded, and must not be repeated for `ms` milliseconds. */
  rest(key: string, now: Instant, ms: number): void;
  /** The place was reached: ends the back-off of every key that failed because it could not be reached. */
  reached(place: string): void;
  /** Ends the back-offs of these keys, or all; the failures so far still count for the next one. */
  retryNow(keys?: readonly string[]): void;
};

/** `longest`: the maximum back-off in milliseconds. */
export function createPacing(random: () => number, longest = backOff.cap): Pacing {
  const { base, cap } = { ...backOff, cap: Math.min(backOff.cap, longest) };
  type Failure = {
    readonly count: number;
    readonly until: Instant;
    readonly unreached?: string | undefined;
    readonly longest: number;
  };
  const failures = new Map<string, Failure>();
  const retryNow = (keys: Iterable<string>, isMeant: (failure: Failure) => boolean = () => true) => {
    for (const key of keys) {
      const failure = failures.get(key);
      if (failure && isMeant(failure)) failures.set(key, { ...failure, until: 0 });
    }
  };
  return {
    notBefore(key, now) {
      const { until, longest = 0 } = failures.get(key) ?? {};
      // Further away than any back-off: the clock was set back.
      return until !== undefined && until - now <= longest ? until : undefined;
    },
    failed(key, now, unreached, longest = cap) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      const until = now + backOffDelay(count, random(), { base, cap: longest });
      failures.set(key, { count, until, unreached, longest });
    },
    succeeded: (key) => void failures.delete(key),
    rest: (key, now, ms) => void failures.set(key, { count: 0, until: now + ms, longest: ms }),
    reached: (place) => retryNow(failures.keys(), ({ unreached }) => unreached === place),
    retryNow: (keys) => retryNow(keys ?? failures.keys()),
  };
}
