import type { DatabaseSync } from "node:sqlite";

/** Runs `work` inside a transaction; resolves when that is on disk. */
export type Commit = <T>(work: () => T) => Promise<T>;

/** What else belongs to a transaction: told when it has begun, right before it is committed, and when it is on disk. */
export type Edges = { readonly begun: () => void; readonly ending: () => void; readonly committed: () => void };

type Waiting = { readonly run: () => void; readonly settle: () => void; readonly fail: (error: unknown) => void };

/**
 * Commits all writes of one event-loop turn in one transaction, so that 32 clients share one sync of the disk. No write
 * suffers for another: when one of a group throws, the group is rolled back and each of its writes is run again alone.
 * So `work` must be repeatable: it may touch the database and nothing else.
 */
export function createGroupCommit(database: DatabaseSync, edges: Edges): Commit & { readonly flush: () => void } {
  let waiting: Waiting[] = [];

  const flush = () => {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    try {
      inTransaction(database, edges, () => {
        for (const each of group) each.run();
      });
    } catch (error) {
      if (group.length === 1) group[0]?.fail(error);
      else for (const each of group) runAlone(database, edges, each);
      return;
    }
    for (const each of group) each.settle();
    edges.committed();
  };

  const commit: Commit = (work) =>
    new Promise((resolve, reject) => {
      let result: ReturnType<typeof work>;
      waiting.push({
        run: () => {
          result = work();
        },
        settle: () => resolve(result),
        fail: reject,
      });
      if (waiting.length === 1) setImmediate(flush);
    });

  return Object.assign(commit, { flush });
}

function runAlone(database: DatabaseSync, edges: Edges, each: Waiting): void {
  try {
    inTransaction(database, edges, each.run);
  } catch (error) {
    each.fail(error);
    return;
  }
  each.settle();
  edges.committed();
}

function inTransaction(database: DatabaseSync, edges: Edges, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    edges.begun();
    work();
    edges.ending();
    database.exec("COMMIT");
  } catch (error) {
    // SQLite itself rolls back on some faults (disk full, for one); rolling back twice would hide the first fault.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
