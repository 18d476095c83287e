import type { DatabaseSync } from "node:sqlite";
import { householdOf } from "../../core/addresses/peer-address.ts";

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
