import { hash } from "node:crypto";
import { householdOf } from "../core/addresses/peer-address.ts";
import type { Instant } from "../core/instant.ts";

/** How many wrong guesses are free, and how long the next one waits after that: doubling, up to a limit. */
const free = { pair: 5, source: 30 } as const;
const first = 2_000;
const longest = 15 * 60_000;
/** A guess is forgotten after so long without another one. */
const memory = 60 * 60_000;
const most = 10_000;
/** Characters of a name by which its guesses are counted: longer ones than anybody has would only fill the memory. */
const longestName = 200;

/**
 * Slows guessing down for a name from one source, and for one source whatever the names. Never for a name alone: otherwise
 * anybody could keep its owner out.
 */
export type Throttle = {
  /** Milliseconds until this one may try again; 0 for at once. */
  readonly wait: (name: string, source: string, now: Instant) => number;
  readonly failed: (name: string, source: string, now: Instant) => void;
  readonly succeeded: (name: string, source: string) => void;
};

export type Guess = { readonly name: string; readonly source: string };

/** Between the nodes of one service: who guesses at one is known to all. */
export type SharedGuesses = {
  readonly tell: (wrong: Guess) => void;
  /** Those that were told by others. */
  readonly onHeard: (hear: (wrong: Guess) => void) => void;
};

type Count = { readonly failures: number; readonly last: Instant };

export function createThrottle(): Throttle {
  const pairs = new Map<string, Count>();
  const sources = new Map<string, Count>();
  // Its hash: a part of a text keeps the whole of it in memory.
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

/** One from a time to come is from before the clock was put back. */
const isForgotten = ({ last }: Count, now: Instant): boolean => Math.abs(now - last) > memory;

/** The oldest goes when there are too many: whoever has so many addresses would not be stopped by counting anyway. */
function count(counts: Map<string, Count>, key: string, now: Instant): void {
  const known = counts.get(key);
  const failures = known === undefined || isForgotten(known, now) ? 1 : known.failures + 1;
  counts.delete(key);
  counts.set(key, { failures, last: now });
  const oldest = counts.size > most ? counts.keys().next().value : undefined;
  if (oldest !== undefined) counts.delete(oldest);
}
