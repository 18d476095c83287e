import type { Instant } from "../../core/instant.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";
import { BoundedMap } from "./bounded-map.ts";

export type FailureLimits = {
  /** Failures without a delay. After that, the delay doubles with each. */
  readonly free: number;
  /** Milliseconds: the first delay, and the longest. */
  readonly first: number;
  readonly longest: number;
  /** Milliseconds after which failures are forgotten if no other one follows. */
  readonly memory: number;
  /**
   * Keys to remember. Beyond that the oldest is dropped: counting would not stop somebody with that many addresses
   * anyway.
   */
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
    const ownFailures = this.#failures.get(key);
    return ownFailures === undefined || Math.abs(now - ownFailures.last) > this.#limits.memory
      ? { count: 0, last: now }
      : ownFailures;
  }
}

/** Milliseconds. */
const backOff = { base: 2_000, cap: 300_000 };

type BackedOff = {
  readonly count: number;
  readonly until: Instant;
  readonly unreached?: string | undefined;
  readonly longest: number;
};

/**
 * A random back-off per key of our own requests, after each failure. Kept in memory: a manual restart tries
 * immediately.
 */
export class BackOffs {
  readonly #random: () => number;
  readonly #cap: number;
  readonly #failures = new Map<string, BackedOff>();

  /** `longest`: the maximum back-off in milliseconds. */
  constructor(random: () => number, longest = backOff.cap) {
    this.#random = random;
    this.#cap = Math.min(backOff.cap, longest);
  }

  notBefore(key: string, now: Instant): Instant | undefined {
    const { until, longest = 0 } = this.#failures.get(key) ?? {};
    // Further away than any back-off: the clock was set back.
    return until !== undefined && until - now <= longest ? until : undefined;
  }

  /**
   * `unreached`: the place that could not be reached, if that was the reason. `longest`: another maximum, for this
   * failure.
   */
  failed(key: string, now: Instant, unreached?: string, longest = this.#cap): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const until = now + backOffDelay(count, this.#random(), { base: backOff.base, cap: longest });
    this.#failures.set(key, { count, until, unreached, longest });
  }

  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  /** The request succeeded, and must not be repeated for `ms` milliseconds. */
  pauseFor(key: string, now: Instant, ms: number): void {
    this.#failures.set(key, { count: 0, until: now + ms, longest: ms });
  }

  /** The place was reached: ends the back-off of every key that failed because it could not be reached. */
  reached(place: string): void {
    for (const [key, { unreached }] of this.#failures) if (unreached === place) this.#retry(key);
  }

  /** Ends the back-offs of these keys, or all; the failures so far still count for the next one. */
  retryNow(keys: Iterable<string> = this.#failures.keys()): void {
    for (const key of keys) this.#retry(key);
  }

  #retry(key: string): void {
    const failure = this.#failures.get(key);
    if (failure) this.#failures.set(key, { ...failure, until: 0 });
  }
}
