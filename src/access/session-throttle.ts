import { hash } from "node:crypto";
import { householdOf } from "../core/addresses/peer-address.ts";
import type { Instant } from "../core/instant.ts";
import { FailureDelay } from "../lib/limits/failure-delay.ts";

/** Wrong guesses without a delay. */
const free = { pair: 5, source: 30 } as const;
const limits = { first: 2_000, longest: 15 * 60_000, memory: 60 * 60_000, most: 10_000 } as const;
/** Only this many characters of a name count: longer names, which nobody has, would only fill the memory. */
const longestName = 200;

export type Guess = { readonly name: string; readonly source: string };

/** Shares wrong guesses among the nodes of a service. */
export type SharedGuesses = {
  readonly tell: (wrong: Guess) => void;
  /** Guesses that other nodes reported. */
  readonly onHeard: (hear: (wrong: Guess) => void) => void;
};

/**
 * Slows guessing down per name and source, and per source for all names together. Never per name alone: otherwise
 * anybody could lock its owner out.
 */
export function createThrottle() {
  const pairs = new FailureDelay({ ...limits, free: free.pair });
  const sources = new FailureDelay({ ...limits, free: free.source });
  // Hashed, because a slice keeps the whole string in memory.
  const nameKey = (name: string) => hash("sha256", name.slice(0, longestName), "base64url");
  const pairKey = (name: string, source: string) => `${householdOf(source)} ${nameKey(name)}`;
  return {
    /** Milliseconds until the next attempt is allowed; 0 for immediately. */
    wait: (name: string, source: string, now: Instant): number =>
      Math.max(pairs.wait(pairKey(name, source), now), sources.wait(householdOf(source), now)),
    failed: (name: string, source: string, now: Instant): void => {
      pairs.failed(pairKey(name, source), now);
      sources.failed(householdOf(source), now);
    },
    succeeded: (name: string, source: string): void => pairs.succeeded(pairKey(name, source)),
  };
}
