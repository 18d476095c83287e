import { setTimeout as wait } from "node:timers/promises";
import { householdOf } from "../../core/addresses/peer-address.ts";

/** Counts failed logins per source. Bounded: beyond `most` sources the one that was quiet longest is forgotten. */
export type FailedLogins = {
  /**
   * Records a failure. Returns the number of failures, and by how many milliseconds to delay the response. `guess` identifies what
   * was tried: a client with a wrong key repeats the same guess, and must keep getting its refusals.
   */
  readonly note: (from: string, guess: string, now: number) => { readonly failures: number; readonly delay: number };
  readonly size: () => number;
};

export type FailedLoginLimits = {
  readonly most: number;
  /** Milliseconds for the first failures. */
  readonly delay: number;
  /** Guesses that are delayed no longer than the first. */
  readonly free: number;
  /** Milliseconds. The delay doubles with each further guess, up to this. */
  readonly cap: number;
  /** Milliseconds after the last failure until a source is forgotten. */
  readonly forgotten: number;
};

const usualLimits: FailedLoginLimits = { most: 10_000, delay: 2_000, free: 5, cap: 32_000, forgotten: 15 * 60_000 };

type Source = {
  readonly failures: number;
  /** Distinct guesses. */
  readonly guesses: number;
  readonly lately: readonly string[];
  readonly at: number;
};
const stranger: Source = { failures: 0, guesses: 0, lately: [], at: 0 };

/** If more clients than this share an address and have wrong keys, they are delayed like attackers. */
const guessesKept = 8;

export function createFailedLogins(limits: FailedLoginLimits = usualLimits): FailedLogins {
  // A map keeps insertion order, so the first source is the one that was quiet longest.
  const sources = new Map<string, Source>();
  return {
    note: (from, guess, now) => {
      const source = householdOf(from);
      const known = sources.get(source);
      const before = known === undefined || now - known.at > limits.forgotten ? stranger : known;
      const isNew = !before.lately.includes(guess);
      const guesses = before.guesses + Number(isNew);
      const lately = isNew ? [...before.lately, guess].slice(-guessesKept) : before.lately;
      const failures = before.failures + 1;
      sources.delete(source);
      sources.set(source, { failures, guesses, lately, at: now });
      const [quietest] = sources.keys();
      if (sources.size > limits.most && quietest !== undefined) sources.delete(quietest);
      const doublings = isNew ? Math.min(Math.max(0, guesses - limits.free), 32) : 0;
      return { failures, delay: Math.min(limits.cap, limits.delay * 2 ** doublings) };
    },
    size: () => sources.size,
  };
}

/**
 * Slows guessing down: resolves after `delay` ms, or when `gone` aborts. If `most` calls already wait, it resolves immediately,
 * so that a flood does not cost memory.
 */
export function createHoldBack(most: number): (delay: number, gone: AbortSignal) => Promise<void> {
  let waiting = 0;
  return async (delay, gone) => {
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
