import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { asStoreBusy, sqliteKind, sqliteKinds } from "../../../lib/sqlite/faults.ts";
import { observe } from "../../../process/metrics.ts";
import type { LoggedRow } from "../../model.ts";
import type { StoreCounters } from "../counters.ts";

/**
 * Runs `work` inside a transaction; resolves when the transaction is on disk. `account`: whose zones are written to.
 */
export type Commit = <T>(work: () => T, account?: number) => Promise<T>;

export type TransactionHooks = {
  readonly afterBegin: () => void;
  readonly beforeCommit: () => void;
  readonly afterRollback: () => void;
  /** Returns the rows that it added to the log. */
  readonly afterCommit: () => readonly LoggedRow[];
};

export type Outcome = { readonly result: unknown } | { readonly error: unknown };
export type Batch = {
  readonly outcomes: readonly Outcome[];
  readonly rows: readonly LoggedRow[];
  /** How many transactions it took. */
  readonly commits: number;
};

/**
 * Runs all in one transaction, so that they share one sync of the disk. One never fails because of another: if one
 * throws, everything is rolled back and each is run again alone. So it must be repeatable: it may touch the database
 * and nothing else.
 */
export function runBatch(database: DatabaseSync, hooks: TransactionHooks, works: readonly (() => unknown)[]): Batch {
  try {
    const { outcomes, rows } = inTransaction(database, hooks, works);
    return { outcomes, rows, commits: 1 };
  } catch (error) {
    // If another program has the lock, each of them would wait for it as long again.
    if (works.length === 1 || sqliteKind(error) === sqliteKinds.busy)
      return { outcomes: works.map(() => ({ error })), rows: [], commits: 0 };
  }
  const each = works.map((work) => runBatch(database, hooks, [work]));
  return {
    outcomes: each.flatMap(({ outcomes }) => outcomes),
    rows: each.flatMap(({ rows }) => rows),
    commits: each.reduce((sum, { commits }) => sum + commits, 0),
  };
}

function inTransaction(database: DatabaseSync, hooks: TransactionHooks, works: readonly (() => unknown)[]) {
  database.exec("BEGIN IMMEDIATE");
  try {
    hooks.afterBegin();
    const outcomes = works.map((work) => ({ result: work() }));
    hooks.beforeCommit();
    database.exec("COMMIT");
    return { outcomes, rows: hooks.afterCommit() };
  } catch (error) {
    // SQLite rolls back automatically on some errors, such as a full disk; rolling back twice would hide the first
    // error.
    if (database.isTransaction) database.exec("ROLLBACK");
    hooks.afterRollback();
    throw error;
  }
}

type QueuedWork = {
  readonly work: () => unknown;
  readonly account: number | undefined;
  readonly settle: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
};

export type QueueOptions = {
  /** Runs a batch. */
  readonly run: (works: readonly (() => unknown)[]) => Batch;
  /** Called before the writers get their answers. */
  readonly onDurable: (rows: readonly LoggedRow[]) => void;
  readonly disk: DiskSync;
  readonly counters: StoreCounters;
};

/**
 * Everything that waits is written as one batch; while it is written, the next batch collects. Transactions of other
 * connections of this process (`onOtherConnection`) take turns with the batches.
 */
export class WriteQueue {
  readonly #options: QueueOptions;
  #waiting: QueuedWork[] = [];
  #isScheduled = false;
  /** The disk has a batch, or another connection of this process is writing. */
  #isBusy = false;
  /** Each begins the transaction of another connection. */
  readonly #otherTransactions: (() => void)[] = [];
  #isOtherNext = false;
  /** Settles the batch that is visible, but not on disk yet. */
  #unsynced: (() => void) | undefined;
  #broken: Error | undefined;
  /** Called when nothing is left to do. */
  #drained: (() => void) | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  readonly commit: Commit = <T>(work: () => T, account?: number) =>
    new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, account, settle: resolve as (result: unknown) => void, fail: reject });
      this.#options.counters.waiting += 1;
      this.#schedule();
    });

  /**
   * Runs a transaction of another connection, which takes several turns of the event loop. Later writes wait for its
   * end. Resolves when it is on disk, or with undefined if there is nothing to commit. Without `committed`, nobody is
   * notified.
   */
  readonly onOtherConnection = async <T>(
    transaction: () => Promise<{ result: T; committed?: readonly LoggedRow[] } | undefined>,
  ): Promise<T | undefined> => {
    const { counters, disk, onDurable } = this.#options;
    counters.waiting += 1;
    await new Promise<void>((begin) => {
      this.#otherTransactions.push(begin);
      this.#schedule();
    });
    try {
      if (this.#broken !== undefined) throw this.#broken;
      const begun = performance.now();
      const ended = await transaction();
      if (ended === undefined) return undefined;
      await disk.sync().catch((error: Error) => Promise.reject(this.#breakDown(error)));
      this.#count(1, 1, begun);
      if (ended.committed !== undefined) onDurable(ended.committed);
      return ended.result;
    } catch (error) {
      counters.failed += 1;
      throw asStoreBusy(error);
    } finally {
      counters.waiting -= 1;
      this.#isBusy = false;
      this.#schedule();
    }
  };

  /** Whether writes to zones of other accounts wait. */
  readonly isAwaitedByOthers = (account: number): boolean =>
    this.#waiting.some((write) => write.account !== undefined && write.account !== account);

  /** Why no more writes are accepted until the service is restarted. */
  get trouble(): Error | undefined {
    return this.#broken;
  }

  /** Waits for the batch that is being written, and for those that are waiting. */
  async drain(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
      this.#schedule();
    });
  }

  /** Finishes pending writes, before the database is closed. */
  flush(): void {
    const { run, disk } = this.#options;
    const writes = this.#taken();
    const batch = writes.length > 0 ? run(writes.map(({ work }) => work)) : undefined;
    if (this.#unsynced === undefined && batch === undefined) return;
    disk.syncNow();
    this.#unsynced?.();
    if (batch !== undefined) this.#settle(batch, writes, performance.now());
  }

  #schedule(): void {
    const isIdle = this.#waiting.length === 0 && this.#otherTransactions.length === 0;
    if (isIdle && !this.#isBusy) this.#drained?.();
    if (isIdle || this.#isScheduled || this.#isBusy) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isBusy) this.#next();
    });
  }

  #next(): void {
    const other = this.#isOtherNext || this.#waiting.length === 0 ? this.#otherTransactions.shift() : undefined;
    if (other !== undefined) {
      this.#isOtherNext = false;
      this.#isBusy = true;
      other();
      return;
    }
    this.#isOtherNext = true;
    const writes = this.#taken();
    if (writes.length > 0) this.#run(writes);
    if (!this.#isBusy) this.#schedule();
  }

  #taken(): readonly QueuedWork[] {
    const writes = this.#waiting;
    this.#waiting = [];
    if (this.#broken === undefined) return writes;
    this.#fail(this.#broken, writes);
    return [];
  }

  #run(writes: readonly QueuedWork[]): void {
    const begun = performance.now();
    const { run, disk } = this.#options;
    const batch = run(writes.map(({ work }) => work));
    if (batch.commits === 0) {
      this.#settle(batch, writes, begun);
      return;
    }
    this.#isBusy = true;
    this.#unsynced = () => {
      this.#unsynced = undefined;
      this.#settle(batch, writes, begun);
    };
    disk.sync().then(
      () => this.#ended(() => this.#unsynced?.()),
      (error: Error) => this.#ended(() => this.#unsynced && this.#fail(this.#breakDown(error), writes)),
    );
  }

  #ended(settle: () => void): void {
    this.#isBusy = false;
    settle();
    this.#schedule();
  }

  #settle({ outcomes, rows, commits }: Batch, writes: readonly QueuedWork[], begun: number): void {
    const failed = outcomes.filter((outcome) => "error" in outcome).length;
    const { counters, onDurable } = this.#options;
    this.#count(writes.length - failed, commits, begun);
    counters.waiting -= writes.length;
    counters.failed += failed;
    onDurable(rows);
    for (const [i, { settle, fail }] of writes.entries()) {
      const outcome = outcomes[i] as Outcome;
      if ("error" in outcome) fail(asStoreBusy(outcome.error));
      else settle(outcome.result);
    }
  }

  #count(writes: number, commits: number, begun: number): void {
    const { counters } = this.#options;
    counters.writes += writes;
    counters.commits += commits;
    if (commits > 0) observe(counters.commitSeconds, (performance.now() - begun) / 1_000);
  }

  #fail(error: unknown, writes: readonly QueuedWork[]): void {
    const { counters } = this.#options;
    counters.failed += writes.length;
    counters.waiting -= writes.length;
    const busy = asStoreBusy(error);
    for (const { fail } of writes) fail(busy);
  }

  /** Writes must not build on data that is visible but may be lost: PostgreSQL panics for the same reason. */
  #breakDown(error: Error): Error {
    this.#broken ??= new StoreBusy("writing to the disk failed; restart the service", { cause: error });
    return this.#broken;
  }
}

export type DiskSync = ReturnType<typeof openWalSync>;

/**
 * Syncs everything that was committed before the call. In the main thread, nothing may wait for the disk. With
 * `synchronous=FULL`, SQLite ends a commit with a sync of the write-ahead log; with NORMAL it skips only that sync
 * (https://sqlite.org/pragma.html#pragma_synchronous), and this does it instead. The log stays the same file while a
 * connection is open.
 */
export function openWalSync(database: DatabaseSync, path: string) {
  if (path === ":memory:") return { sync: async () => undefined, syncNow: () => undefined, close: () => undefined };
  database.exec("PRAGMA synchronous = NORMAL");
  // The log is created by the first write, so it may not exist yet.
  let file: number | undefined;
  const log = () => {
    file ??= openSync(`${path}-wal`, "r+");
    return file;
  };
  return {
    sync: (): Promise<void> =>
      new Promise((resolve, reject) => {
        fdatasync(log(), (error) => (error ? reject(error) : resolve()));
      }),
    syncNow: (): void => fdatasyncSync(log()),
    close: (): void => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
