import { setTimeout as wait } from "node:timers/promises";
import { householdOf } from "../../core/addresses/peer-address.ts";

/** Who guessed, and how often in a row. Bounded: beyond `most` sources the one that was quiet longest is forgotten. */
export type FailedLogins = {
  /**
   * One more failure from there: how many that makes, and how many milliseconds its answer is to wait. `guess` tells what was
   * tried: a client with a wrong key tries one thing again and again, and must go on to hear that it is wrong.
   */
  readonly note: (from: string, guess: string, now: number) => { readonly failures: number; readonly delay: number };
  readonly size: () => number;
};

export type FailedLoginLimits = {
  readonly most: number;
  /** Milliseconds for the first failures. */
  readonly delay: number;
  /** So many guesses cost no more than the first. */
  readonly free: number;
  /** Milliseconds: it doubles with each further guess up to this. */
  readonly cap: number;
  /** Milliseconds after the last failure until a source is new again. */
  readonly forgotten: number;
};

const usualLimits: FailedLoginLimits = { most: 10_000, delay: 2_000, free: 5, cap: 32_000, forgotten: 15 * 60_000 };

type Source = {
  readonly failures: number;
  /** Different ones. */
  readonly guesses: number;
  readonly lately: readonly string[];
  readonly at: number;
};
const stranger: Source = { failures: 0, guesses: 0, lately: [], at: 0 };

/** More clients with wrong keys than this behind one address wait like guessers. */
const guessesKept = 8;

export function createFailedLogins(limits: FailedLoginLimits = usualLimits): FailedLogins {
  // A map keeps the order of insertion: the first is the one that was quiet longest.
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
 * Makes guessing slow: resolves after `delay` ms, and when `gone` aborts. Beyond `most` at once nobody waits: a flood must
 * not cost memory.
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
