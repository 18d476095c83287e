export type BackOff = { readonly base: number; readonly cap: number };

/** "Full jitter": a random delay below a bound that doubles with each failure in a row. `random` is in [0, 1). */
export function backOffDelay(failures: number, random: number, { base, cap }: BackOff): number {
  if (failures <= 0) return 0;
  return Math.floor(random * Math.min(cap, base * 2 ** failures));
}

/** Plus or minus 10%, so that clients that were started together do not stay in sync. */
export function jittered(interval: number, random: number): number {
  return Math.round(interval * (0.9 + 0.2 * random));
}

/** How long a delay after a failure is, as the trouble goes on. */
export type RetryBounds = { readonly shortest: number; readonly longest: number };

/**
 * When to try again while something does not work: the delay follows how long that has lasted, and not how often it was
 * tried. What works again is tried after half of that time at most.
 */
export class RetryDelay {
  readonly #delays: RetryBounds;
  #since: number | undefined;
  #until = 0;

  constructor(delays: RetryBounds) {
    this.#delays = delays;
  }

  /** `random` is in [0, 1): up to a tenth is added, so that several do not try at the same moment. */
  failed(now: number, random: number): void {
    this.#since ??= now;
    const { shortest, longest } = this.#delays;
    const delay = Math.min(longest, Math.max(shortest, (now - this.#since) / 2));
    this.#until = now + Math.round(delay * (1 + random / 10));
  }

  /** Whether it did not before. */
  worked(): boolean {
    const isOver = this.#since !== undefined;
    [this.#since, this.#until] = [undefined, 0];
    return isOver;
  }

  /** Milliseconds until the next try. */
  wait(now: number): number {
    return Math.max(0, this.#until - now);
  }
}
