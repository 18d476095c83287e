import type { Instant } from "../../core/instant.ts";
import { BoundedMap } from "./bounded-map.ts";

export type FailureLimits = {
  /** Failures without a delay. After that, the delay doubles with each. */
  readonly free: number;
  /** Milliseconds: the first delay, and the longest. */
  readonly first: number;
  readonly longest: number;
  /** Milliseconds after which failures are forgotten if no other one follows. */
  readonly memory: number;
  /** Keys to remember. Beyond that the oldest is dropped: counting would not stop somebody with that many addresses anyway. */
  readonly most: number;
};

type Failures = { readonly count: number; readonly last: Instant };

/** A delay after failures, per key: a name, a network, or both. */
export class FailureDelay {
  readonly #failures: BoundedMap<string, Failures>;
  readonly #limits: FailureLimits;

  constructor(limits: FailureLimits) {
    this.#limits = limits;
    this.#failures = new BoundedMap(limits.most);
  }

  /** Milliseconds until the next attempt is allowed; 0 for immediately. */
  wait(key: string, now: Instant): number {
    const { free, first, longest } = this.#limits;
    const { count, last } = this.#failuresOf(key, now);
    if (count < free || count === 0) return 0;
    const pause = Math.min(longest, first * 2 ** (count - free));
    return Math.min(pause, Math.max(0, last + pause - now));
  }

  failed(key: string, now: Instant): void {
    this.#failures.set(key, { count: this.#failuresOf(key, now).count + 1, last: now });
  }

  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  /** A failure in the future dates from before the clock was set back. */
  #failuresOf(key: string, now: Instant): Failures {
    const known = this.#failures.get(key);
    return known === undefined || Math.abs(now - known.last) > this.#limits.memory ? { count: 0, last: now } : known;
  }
}
