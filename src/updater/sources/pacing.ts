import type { Instant } from "../../core/instant.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";

const backOff = { base: 2_000, cap: 300_000 };

/** Remembers for how long each thing that failed is left alone. In memory: a restart by hand tries at once. */
export type Pacing = {
  notBefore(key: string, now: Instant): Instant | undefined;
  /** `unreached`: what could not be reached, where that was why. */
  failed(key: string, now: Instant, unreached?: string): void;
  succeeded(key: string): void;
  /** It was reached: whatever failed because it could not be is left alone no longer. */
  reached(place: string): void;
  /** Nothing is left alone any longer; another failure counts on from those before. */
  retryNow(): void;
};

/** `longest`: milliseconds that nothing is left alone for longer. */
export function createPacing(random: () => number, longest = backOff.cap): Pacing {
  const { base, cap } = { ...backOff, cap: Math.min(backOff.cap, longest) };
  type Failure = { readonly count: number; readonly until: Instant; readonly unreached?: string | undefined };
  const failures = new Map<string, Failure>();
  const retryNow = (isMeant: (failure: Failure) => boolean) => {
    for (const [key, failure] of failures) if (isMeant(failure)) failures.set(key, { ...failure, until: 0 });
  };
  return {
    notBefore(key, now) {
      const until = failures.get(key)?.until;
      // Further away than we ever wait: the clock was put back since.
      return until !== undefined && until - now <= cap ? until : undefined;
    },
    failed(key, now, unreached) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      failures.set(key, { count, until: now + backOffDelay(count, random(), { base, cap }), unreached });
    },
    succeeded: (key) => void failures.delete(key),
    reached: (place) => retryNow(({ unreached }) => unreached === place),
    retryNow: () => retryNow(() => true),
  };
}
