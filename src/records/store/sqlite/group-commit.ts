import type { DatabaseSync } from "node:sqlite";
import { StoreBusy } from "../../../process/database/store-busy.ts";
import { observe } from "../../../process/metrics.ts";
import { asStoreBusy } from "../../../process/sqlite/faults.ts";
import type { StoreCounters } from "../counters.ts";
import type { DiskSync } from "./wal-sync.ts";

/** Runs `work` inside a transaction; resolves when the transaction is on disk. */
export type Commit = <T>(work: () => T) => Promise<T>;

export type GroupCommit<Committed> = ReturnType<typeof createGroupCommit<Committed>>;

/** Hooks of a transaction. */
export type Edges<Committed> = {
  readonly begun: () => void;
  /** Called right before it is committed. */
  readonly ending: () => void;
  /** It was rolled back. */
  readonly rolledBack: () => void;
  /** It is visible to readers, but not on disk yet. Returns the argument for `durable`. */
  readonly committed: () => Committed;
  /** It is on disk; no writer has an answer yet. */
  readonly durable: (result: Committed) => void;
};

type Waiting = { readonly run: () => void; readonly settle: () => void; readonly fail: (error: unknown) => void };
type Group<Committed> = {
  readonly writes: readonly Waiting[];
  readonly result: Committed | undefined;
  readonly begun: number;
};

/**
 * Commits all pending writes in one transaction, so that clients that write at the same time share one sync of the
 * disk; during the sync, the next group collects. A write never fails because of another: if one of a group throws, the
 * group is rolled back and each of its writes is run again alone. So `work` must be repeatable: it may touch the
 * database and nothing else.
 */
export function createGroupCommit<Committed>(
  database: DatabaseSync,
  edges: Edges<Committed>,
  disk: DiskSync,
  counters: StoreCounters,
) {
  let waiting: Waiting[] = [];
  let scheduled = false;
  /** Committed but not yet known to be on disk, oldest first. */
  let committed: Group<Committed>[] = [];
  let syncing = false;
  /** Another connection is writing. */
  let held = false;
  let released = Promise.resolve();
  let broken: Error | undefined;

  /** Called when the oldest `count` groups are on disk. */
  const settle = (count: number) => {
    const now = performance.now();
    for (const { result, writes, begun } of committed.splice(0, count)) {
      counters.writes += writes.length;
      counters.waiting -= writes.length;
      counters.commits += 1;
      observe(counters.commitSeconds, (now - begun) / 1_000);
      if (result !== undefined) edges.durable(result);
      for (const each of writes) each.settle();
    }
  };

  const failWith = (error: unknown, writes: readonly Waiting[]) => {
    counters.failed += writes.length;
    counters.waiting -= writes.length;
    const busy = asStoreBusy(error);
    for (const each of writes) each.fail(busy);
  };

  /** Writes must not build on data that is visible but may be lost: PostgreSQL panics for the same reason. */
  const breakDown = (error: Error) => {
    broken ??= new StoreBusy("writing to the disk failed; restart the service", { cause: error });
    const groups = committed;
    committed = [];
    for (const { writes } of groups) failWith(broken, writes);
  };

  const sync = async () => {
    syncing = true;
    const count = committed.length;
    const trouble = await disk.sync().then(
      () => undefined,
      (error: Error) => error,
    );
    syncing = false;
    if (trouble === undefined) settle(count);
    else breakDown(trouble);
    if (waiting.length > 0 || committed.length > 0) schedule();
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
    committed.push({ writes, result: edges.committed(), begun });
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
    if (!held) commitWaiting();
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

  /** Commits the writes that are already waiting, and then no other group until `work` has ended. */
  const holding = async <T>(work: () => Promise<T>): Promise<T> => {
    const before = released;
    const { promise, resolve: release } = Promise.withResolvers<void>();
    released = promise;
    await before;
    try {
      commitWaiting();
      schedule();
      held = true;
      if (broken !== undefined) throw broken;
      return await work();
    } finally {
      held = false;
      release();
      schedule();
    }
  };

  /**
   * Runs a transaction of another connection, which takes several turns of the event loop. Later writes wait for its
   * end. Resolves when it is on disk, or with undefined if there is nothing to commit. Without `committed`, nobody is notified.
   */
  const apart = async <T>(transaction: () => Promise<{ result: T; committed?: Committed } | undefined>) => {
    const onDisk = Promise.withResolvers<T | undefined>();
    const write = { run: () => undefined, settle: () => onDisk.resolve(undefined), fail: onDisk.reject };
    counters.waiting += 1;
    await holding(async () => {
      const begun = performance.now();
      const ended = await transaction();
      if (ended === undefined) {
        counters.waiting -= 1;
        write.settle();
      } else {
        // Before any later write, because listeners get the log in order.
        const settled = { ...write, settle: () => onDisk.resolve(ended.result) };
        committed.push({ writes: [settled], result: ended.committed, begun });
      }
    }).catch((error: unknown) => failWith(error, [write]));
    return await onDisk.promise;
  };

  return Object.assign(commit, {
    apart,
    /** Why no more writes are accepted until the service is restarted. */
    trouble: (): Error | undefined => broken,
    /** Finishes pending writes, before the database is closed. */
    flush: (): void => {
      commitWaiting();
      if (committed.length === 0) return;
      disk.syncNow();
      settle(committed.length);
    },
  });
}

function inTransaction<Committed>(database: DatabaseSync, edges: Edges<Committed>, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    edges.begun();
    work();
    edges.ending();
    database.exec("COMMIT");
  } catch (error) {
    // SQLite rolls back automatically on some errors, such as a full disk; rolling back twice would hide the first error.
    if (database.isTransaction) database.exec("ROLLBACK");
    edges.rolledBack();
    throw error;
  }
}
