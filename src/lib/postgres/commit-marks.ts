import { randomUUID } from "node:crypto";
import type { Statement } from "./statement.ts";

/**
 * Each transaction leaves its own mark, so that a client that lost the connection during the commit can check whether
 * it happened. The transaction id is not enough: after a crash, the server reuses the ids of transactions that left no
 * trace.
 */
export type CommitMark = {
  /** Send this right before COMMIT. */
  readonly leave: Statement;
  /** Returns a row if the transaction has committed. */
  readonly find: Statement;
  /** Call this when it is known how the transaction ended: the next one may use the place. */
  readonly free: () => void;
};

export const commitMarksTable = `
  CREATE TABLE commit_marks (
    place TEXT COLLATE "C" PRIMARY KEY,
    number BIGINT NOT NULL,
    at TIMESTAMPTZ NOT NULL
  ) WITH (fillfactor = 50);
`;

/** Places of programs that have ended; they are no longer needed. */
export const dropOldMarks = "DELETE FROM commit_marks WHERE at < now() - interval '1 day'";

/** There are only as many places as concurrent transactions, so that the table stays small. */
export function createCommitMarks(): () => CommitMark {
  const program = randomUUID();
  const places: string[] = [];
  let [made, number] = [0, 0];
  return () => {
    const place = places.pop() ?? `${program} ${made++}`;
    const values = [place, ++number];
    return {
      leave: {
        name: "leave mark",
        text:
          "INSERT INTO commit_marks (place, number, at) VALUES ($1, $2, now()) " +
          "ON CONFLICT (place) DO UPDATE SET number = excluded.number, at = excluded.at",
        values,
      },
      find: { text: "SELECT 1 FROM commit_marks WHERE place = $1 AND number = $2", values },
      free: () => void places.push(place),
    };
  };
}
