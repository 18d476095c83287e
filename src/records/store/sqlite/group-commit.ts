import type { DatabaseSync } from "node:sqlite";
import { StoreBusy } from "../../../process/database/store-busy.ts";
import { observe } from "../../../process/metrics.ts";
import { asStoreBusy } from "../../../process/sqlite/faults.ts";
import type { StoreCounters } from "../counters.ts";
import type { DiskSync } from "./wal-sync.ts";

/** Runs `work` inside a transaction; resolves when that is on disk. */
export type Commit = <T>(work: () => T) => Promise<T>;

/** What else belongs to a transaction. */
export type Edges<Told> = {
  readonly begun: () => void;
  /** Right before it is committed. */
  readonly ending: () => void;
  /** Nothing of it was done. */
  readonly rolledBack: () => void;
  /** Others can read it now, but it is not on disk yet. Gives what `durable` is told. */
  readonly committed: () => Told;
  /** It is on disk; nobody who wrote has an answer yet. */
  readonly durable: (told: Told) => void;
};

type Waiting = { readonly run: () => void; readonly settle: () => void; readonly fail: (error: unknown) => void };
type Group<Told> = { readonly writes: readonly Waiting[]; readonly told: Told; readonly begun: number };

/**
 * Commits all writes that have come together in one transaction, so that 32 clients share one sync of the disk; while the disk
 * works, the next ones come together. No write suffers for another: when one of a group throws, the group is rolled
 * back and each of its writes is run again alone. So `work` must be repeatable: it may touch the database and nothing else.
 */
export function createGroupCommit<Told>(
  database: DatabaseSync,
  edges: Edges<Told>,
  disk: DiskSync,
  counters: StoreCounters,
) {
  let waiting: Waiting[] = [];
  let scheduled = false;
  /** Committed and not yet known to be on disk, oldest first. */
  let committed: Group<Told>[] = [];
  let syncing = false;
  let broken: Error | undefined;

  const settle = () => {
    const groups = committed;
    committed = [];
    const now = performance.now();
    for (const { told, writes, begun } of groups) {
      counters.writes += writes.length;
      counters.waiting -= writes.length;
      counters.commits += 1;
      observe(counters.commitSeconds, (now - begun) / 1_000);
      edges.durable(told);
      for (const each of writes) each.settle();
    }
  };

  const failWith = (error: unknown, writes: readonly Waiting[]) => {
    counters.failed += writes.length;
    counters.waiting -= writes.length;
    const told = asStoreBusy(error);
    for (const each of writes) each.fail(told);
  };

  /** What is visible and may yet vanish must not be built upon: PostgreSQL stops for the same reason. */
  const breakDown = (error: Error) => {
    broken ??= new StoreBusy("the disk did not take what was written; start the service again", { cause: error });
    const groups = committed;
    committed = [];
    for (const { writes } of groups) failWith(broken, writes);
  };

  const sync = async () => {
    syncing = true;
    const trouble = await disk.sync().then(
      () => undefined,
      (error: Error) => error,
    );
    syncing = false;
    if (trouble === undefined) settle();
    else breakDown(trouble);
    if (waiting.length > 0) schedule();
  };

  const attempt = (writes: readonly Waiting[]): unknown => {
    const begun = performance.now();
    try {
      inTransaction(database, edges, () => {
        for (const each of writes) each.run();
      });
    } catch (error) {
      return error;
    }
    committed.push({ writes, told: edges.committed(), begun });
    return undefined;
  };

  const commitWaiting = () => {
    const writes = waiting;
    waiting = [];
    if (broken !== undefined) return failWith(broken, writes);
    if (writes.length === 0 || attempt(writes) === undefined) return;
    for (const each of writes) {
      const error = attempt([each]);
      if (error !== undefined) failWith(error, [each]);
    }
  };

  const turn = () => {
    scheduled = false;
    if (syncing) return;
    commitWaiting();
    if (committed.length > 0) void sync();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
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
      counters.waiting += 1;
      schedule();
    });

  return Object.assign(commit, {
    /** Why nothing is written any more until the service is started again. */
    trouble: (): Error | undefined => broken,
    /** Ends what is under way, before the database is closed. */
    flush: (): void => {
      commitWaiting();
      if (committed.length === 0) return;
      disk.syncNow();
      settle();
    },
  });
}

function inTransaction<Told>(database: DatabaseSync, edges: Edges<Told>, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    edges.begun();
    work();
    edges.ending();
    database.exec("COMMIT");
  } catch (error) {
    // SQLite itself rolls back on some faults (disk full, for one); rolling back twice would hide the first fault.
    if (database.isTransaction) database.exec("ROLLBACK");
    edges.rolledBack();
    throw error;
  }
}
