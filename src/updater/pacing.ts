import { backOffDelay } from "../core/back-off.ts";
import type { Instant } from "../core/instant.ts";

const backOff = { base: 2_000, cap: 300_000 };

/** Remembers for how long each thing that failed is left alone. In memory: a restart by hand tries at once. */
export type Pacing = {
  notBefore(key: string, now: Instant): Instant | undefined;
  failed(key: string, now: Instant): void;
  succeeded(key: string): void;
  /** Nothing is left alone any longer; another failure counts on from those before. */
  hurry(): void;
};

export function createPacing(random: () => number): Pacing {
  const failures = new Map<string, { readonly count: number; readonly until: Instant }>();
  return {
    notBefore(key, now) {
      const until = failures.get(key)?.until;
      // Further away than we ever wait: the clock was put back since.
      return until !== undefined && until - now <= backOff.cap ? until : undefined;
    },
    failed(key, now) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      failures.set(key, { count, until: now + backOffDelay(count, random(), backOff) });
    },
    succeeded: (key) => void failures.delete(key),
    hurry() {
      for (const [key, { count }] of failures) failures.set(key, { count, until: 0 });
    },
  };
}
