import type { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { householdOf } from "../../core/addresses/peer-address.ts";
import { BoundedMap } from "../../lib/limits/bounded-map.ts";

/** Signing in to the pages and out of them. Repetitions within an hour are one entry. */
export type SignInEntry = {
  /** The last time. */
  readonly at: Date;
  /** A user, or `unknownName`. */
  readonly actor: string;
  readonly source: string;
  readonly action: string;
  readonly failed: boolean;
  readonly times: number;
};

/** People type passwords into the wrong field, so a name that no user has is not stored. */
export const unknownName = "unknown name";

/** Failures and the rest are limited separately: a flood of failures must not push out who signed in. */
const kept = 1_000;
const together = 3_600_000;

export type SignIns = ReturnType<typeof openSignIns>;

export function openSignIns(database: DatabaseSync) {
  const repeat = database.prepare(
    "UPDATE sign_ins SET at = ?, source = ?, times = times + 1 " +
      "WHERE actor = ? AND household = ? AND action = ? AND failed = ? AND first > ? AND first <= ?",
  );
  const insert = database.prepare(
    "INSERT INTO sign_ins (at, source, actor, household, action, failed, first, times) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
  );
  const forget = database.prepare(
    "DELETE FROM sign_ins WHERE failed = ? AND id NOT IN " +
      "(SELECT id FROM sign_ins WHERE failed = ? ORDER BY at DESC, id DESC LIMIT ?)",
  );
  const read = database.prepare(
    "SELECT at, actor, source, action, failed, times FROM sign_ins ORDER BY at DESC, id DESC LIMIT ?",
  );
  return {
    note: ({ at, actor, source, action, failed }: Omit<SignInEntry, "times">): void => {
      const [now, kind] = [at.getTime(), Number(failed)];
      const what = [actor, householdOf(source), action, kind] as const;
      if (repeat.run(now, source, ...what, now - together, now).changes > 0) return;
      insert.run(now, source, ...what, now);
      forget.run(kind, kind, kept);
    },
    /** The latest first. */
    latest: (most: number): readonly SignInEntry[] =>
      (read.all(most) as SignInRow[]).map((row) => ({ ...row, at: new Date(row.at), failed: row.failed === 1 })),
  };
}

type SignInRow = Omit<SignInEntry, "at" | "failed"> & { readonly at: number; readonly failed: number };

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

/** Counts failed logins per source. Bounded: beyond `most` sources the one that was quiet longest is forgotten. */
export function createFailedLogins(limits: FailedLoginLimits = usualLimits) {
  const sources = new BoundedMap<string, Source>(limits.most);
  return {
    /**
     * Records a failure. Returns the number of failures, and by how many milliseconds to delay the response. `guess`
     * identifies what was tried: a client with a wrong key repeats the same guess, and must keep getting its refusals.
     */
    note: (from: string, guess: string, now: number): { readonly failures: number; readonly delay: number } => {
      const source = householdOf(from);
      const sourceRow = sources.get(source);
      const before = sourceRow === undefined || now - sourceRow.at > limits.forgotten ? stranger : sourceRow;
      const isNew = !before.lately.includes(guess);
      const guesses = before.guesses + Number(isNew);
      const lately = isNew ? [...before.lately, guess].slice(-guessesKept) : before.lately;
      const failures = before.failures + 1;
      sources.set(source, { failures, guesses, lately, at: now });
      const doublings = isNew ? Math.min(Math.max(0, guesses - limits.free), 32) : 0;
      return { failures, delay: Math.min(limits.cap, limits.delay * 2 ** doublings) };
    },
    size: (): number => sources.size,
  };
}

/**
 * Slows guessing down: resolves after `delay` ms, or when `gone` aborts. If `most` calls already wait, it resolves
 * immediately, so that a flood does not cost memory.
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
