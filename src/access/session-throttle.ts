import { hash } from "node:crypto";
import { householdOf } from "../core/addresses/peer-address.ts";
import type { Instant } from "../core/instant.ts";

/** Wrong guesses without a delay. After that the delay doubles with each, up to a limit. */
const free = { pair: 5, source: 30 } as const;
const first = 2_000;
const longest = 15 * 60_000;
/** A guess is forgotten if no other one follows within this time. */
const memory = 60 * 60_000;
const most = 10_000;
/** Only this many characters of a name count: longer names, which nobody has, would only fill the memory. */
const longestName = 200;

/**
 * Slows guessing down per name and source, and per source for all names together. Never per name alone: otherwise
 * anybody could lock its owner out.
 */
export type Throttle = {
  /** Milliseconds until the next attempt is allowed; 0 for immediately. */
  readonly wait: (name: string, source: string, now: Instant) => number;
  readonly failed: (name: string, source: string, now: Instant) => void;
  readonly succeeded: (name: string, source: string) => void;
};

export type Guess = { readonly name: string; readonly source: string };

/** Shares wrong guesses among the nodes of a service. */
export type SharedGuesses = {
  readonly tell: (wrong: Guess) => void;
  /** Guesses that other nodes reported. */
  readonly onHeard: (hear: (wrong: Guess) => void) => void;
};

type Count = { readonly failures: number; readonly last: Instant };

export function createThrottle(): Throttle {
  const pairs = new Map<string, Count>();
  const sources = new Map<string, Count>();
  // Hashed, because a slice keeps the whole string in memory.
  const nameKey = (name: string) => hash("sha256", name.slice(0, longestName), "base64url");
  const pairKey = (name: string, source: string) => `${householdOf(source)} ${nameKey(name)}`;
  return {
    wait: (name, source, now) =>
      Math.max(
        waitOf(pairs.get(pairKey(name, source)), free.pair, now),
        waitOf(sources.get(householdOf(source)), free.source, now),
      ),
    failed: (name, source, now) => {
      count(pairs, pairKey(name, source), now);
      count(sources, householdOf(source), now);
    },
    succeeded: (name, source) => void pairs.delete(pairKey(name, source)),
  };
}

function waitOf(known: Count | undefined, allowed: number, now: Instant): number {
  if (known === undefined || known.failures < allowed || isForgotten(known, now)) return 0;
  const pause = Math.min(longest, first * 2 ** (known.failures - allowed));
  return Math.min(pause, Math.max(0, known.last + pause - now));
}

/** A guess in the future dates from before the clock was set back. */
const isForgotten = ({ last }: Count, now: Instant): boolean => Math.abs(now - last) > memory;

/** If there are too many, the oldest is dropped: counting would not stop somebody with that many addresses anyway. */
function count(counts: Map<string, Count>, key: string, now: Instant): void {
  const known = counts.get(key);
  const failures = known === undefined || isForgotten(known, now) ? 1 : known.failures + 1;
  counts.delete(key);
  counts.set(key, { failures, last: now });
  const oldest = counts.size > most ? counts.keys().next().value : undefined;
  if (oldest !== undefined) counts.delete(oldest);
}
