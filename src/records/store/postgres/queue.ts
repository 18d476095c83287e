import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { finish, type Steps } from "../../../core/steps.ts";
import { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { isLockTimeout } from "../../../lib/postgres/faults.ts";
import type { Postgres } from "../../../lib/postgres/open.ts";
import type { Committed, Rows, Statement } from "../../../lib/postgres/statement.ts";
import { observe } from "../../../process/metrics.ts";
import type { LoggedRow } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import type { StoreCounters } from "../counters.ts";
import type { AddedPlaces } from "../port.ts";
import { type BatchOutcome, PostgresBatch, ReadWholeZone, RunAlone } from "./batch.ts";
import { loadBatch, type WriteNeeds } from "./batch-read.ts";
import { SpoiledBatch } from "./batch-sets.ts";
import { isStaged, writeStatements } from "./batch-write.ts";
import { KeyedQueues } from "./keyed-queues.ts";
import { busyFor, type LockBusy, type Locks, type LockWay, namesToLock } from "./locks.ts";
import { mostLink, placeAt } from "./log.ts";
import type { Purge } from "./purge.ts";

/**
 * One write: what it needs to see, and what it does. `run` may be called again, and must touch nothing but the batch.
 */
export type Write<T> = WriteNeeds & { readonly run: (batch: PostgresBatch) => Steps<T> };

export type PostgresQueueOptions = {
  readonly postgres: Postgres;
  readonly purge: Purge;
  readonly counters: StoreCounters;
  /** Called after each commit with the rows it added to the log; without them if they are unknown. */
  readonly committed: (rows?: readonly LoggedRow[], places?: AddedPlaces) => void;
  readonly signer?: Signer | undefined;
  /** How many zones an account may have. */
  readonly mostZones?: number | undefined;
  /** As in `WriteView`. */
  readonly mostValues?: number | undefined;
  /** Further writes are refused immediately. */
  readonly mostWaiting?: number | undefined;
  /** A write waits this many milliseconds for a lock, and then fails. */
  readonly lockLimit: number;
};

type QueuedWrite = {
  readonly write: Write<unknown>;
  readonly settle: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
  /** When it was added. */
  readonly since: number;
};
type Settled =
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "failed"; readonly error: unknown };
type Fate = Settled | ({ readonly kind: "busy" } & LockBusy);

type RunStatement = (statement: Statement) => Promise<Rows>;
type LoadedBatch = Awaited<ReturnType<typeof loadBatch>>;
/** What a batch will write, and what then becomes of its writes. */
type BatchPlan = {
  readonly fates: readonly Fate[];
  readonly outcome: BatchOutcome;
  readonly link: number;
  readonly statements: readonly Statement[];
};
type Attempted = Committed<{
  readonly fates: readonly Fate[];
  readonly log: BatchOutcome["log"];
  readonly link: number;
}>;

/** A batch that is being written, and what it has locked. */
type Running = Locks & { readonly ended: Promise<void>; zones: ReadonlySet<number> };

/** Two batches: while one waits for the disk, the other reads. More would only make batches smaller. */
const mostBatches = 2;
const largestBatch = 500;
/** Milliseconds that a batch, or the writers of a busy zone, wait for a lock at a time. */
const lockSlice = 250;
/** Milliseconds; much less than the limit of an idle transaction. */
const aliveEvery = 1_000;
/** How often a large write is planned before its transaction. */
const triesApart = 3;

/**
 * Writes that wait together share one transaction, with three round trips in total. Writes to one zone are serialized
 * by its lock, across all nodes. If the rule of one write throws, the others still succeed. A batch does not wait for
 * what others have locked: such writes, and those that need a transaction of their own, go to queues of their own.
 */
export class PostgresWriteQueue {
  readonly #options: PostgresQueueOptions;
  readonly #queues: KeyedQueues<QueuedWrite>;
  #waiting: QueuedWrite[] = [];
  readonly #running = new Set<Running>();
  #isScheduled = false;
  /** The next batch starts when this one has its locks, so that writes to one zone stay in order. */
  #locking: readonly QueuedWrite[] | undefined;
  #made = 0;
  /** For writes that are alone in their batch. */
  readonly #schedule = new FairSchedule();

  constructor(options: PostgresQueueOptions) {
    this.#options = options;
    const { mostWaiting = defaultMostWaiting } = options;
    this.#queues = new KeyedQueues({
      run: (writes) => this.#runKeyedQueue(writes),
      mostTogether: largestBatch,
      mostWaiting,
    });
  }

  add<T>(write: Write<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { counters, mostWaiting = defaultMostWaiting } = this.#options;
      if (this.#waiting.length >= mostWaiting) {
        reject(new StoreBusy("too many writes are waiting"));
        return;
      }
      counters.waiting += 1;
      const settle = (value: unknown) => resolve(value as T);
      const queued = { write, settle, fail: reject, since: performance.now() };
      if (write.isLarge) {
        this.#enterKeyedQueue(`alone ${++this.#made}`, queued);
        return;
      }
      this.#waiting.push(queued);
      this.#pumpSoon();
    });
  }

  /** Resolves when every added write is settled. */
  async drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#running.size > 0 || this.#queues.size > 0) {
      this.#pump();
      await Promise.race([...[...this.#running].map(({ ended }) => ended), ...this.#queues.running()]);
    }
  }

  #pumpSoon(): void {
    if (this.#isScheduled || this.#running.size >= mostBatches) return;
    this.#isScheduled = true;
    setImmediate(() => this.#pump());
  }

  #pump(): void {
    this.#isScheduled = false;
    if (this.#waiting.length === 0 || this.#locking !== undefined || this.#running.size >= mostBatches) return;
    const batch = this.#waiting.slice(0, largestBatch);
    this.#waiting = this.#waiting.slice(largestBatch);
    this.#locking = batch;
    const hasLocked = () => {
      if (this.#locking !== batch) return;
      this.#locking = undefined;
      this.#pump();
    };
    const ours = {
      zones: new Set([...this.#running].flatMap(({ zones }) => [...zones])),
      names: new Set([...this.#running].flatMap(({ names }) => [...names])),
    };
    const locked = (zones: ReadonlySet<number>) => {
      running.zones = zones;
      hasLocked();
    };
    const ended = this.#runBatch(batch, ours, locked).finally(() => {
      this.#running.delete(running);
      hasLocked();
      this.#pump();
    });
    const names = namesToLock(batch.map(({ write }) => write));
    const running: Running = { ended, names, zones: new Set() };
    this.#running.add(running);
  }

  async #runBatch(writes: readonly QueuedWrite[], ours: Locks, locked?: Locked): Promise<void> {
    const { lockLimit } = this.#options;
    try {
      await this.#transact(writes, { kind: "skip", ours, limit: lockSlice, usual: lockLimit }, locked);
    } catch (error) {
      // Another node was faster to lock what our last batch has released.
      if (ours !== nothing && isLockTimeout(error)) await this.#runBatch(writes, nothing, locked);
      else if (writes.length === 1 || error instanceof StoreBusy) this.#failAll(writes, error);
      else for (const each of writes) await this.#runBatch([each], nothing);
    }
  }

  /** Returns the writes that did not get their lock and may try again. */
  async #runKeyedQueue(writes: readonly QueuedWrite[]): Promise<readonly QueuedWrite[]> {
    const { lockLimit } = this.#options;
    const left = Math.min(...writes.map(({ since }) => since)) + lockLimit - performance.now();
    const limit = Math.max(1, Math.min(lockSlice, left));
    try {
      await this.#transact(writes, { kind: "wait", limit, usual: lockLimit });
    } catch (error) {
      if (isLockTimeout(error)) return writes;
      if (writes.length > 1 && !(error instanceof StoreBusy)) return await this.#oneByOne(writes);
      this.#failAll(writes, error);
    }
    return [];
  }

  async #oneByOne(writes: readonly QueuedWrite[]): Promise<readonly QueuedWrite[]> {
    const left: QueuedWrite[] = [];
    for (const each of writes) left.push(...(await this.#runKeyedQueue([each])));
    return left;
  }

  /** Settles the writes, or passes them on to a queue of their own. If this rejects, nothing was written or settled. */
  async #transact(writes: readonly QueuedWrite[], lock: LockWay, locked?: Locked): Promise<void> {
    const { counters, committed } = this.#options;
    const begun = performance.now();
    const { result, last } = await this.#attempt(writes, lock, locked);
    const { fates, log, link } = result;
    counters.commits += 1;
    observe(counters.commitSeconds, (performance.now() - begun) / 1_000);
    if (log.length > 0) {
      const added = last && positioned(log, link, last.rows);
      committed(added?.rows, added?.places);
    }
    for (const [i, each] of writes.entries()) {
      const fate = fates[i];
      if (fate === undefined) continue;
      if (fate.kind === "busy") this.#enterKeyedQueue(fate.key, each, fate.because);
      else if (!this.#isRepeatedAlone(each, fate, isAlone(writes, lock))) this.#settle(each, fate);
    }
  }

  /** A large write is planned before its transaction, unless the zone changes again and again meanwhile. */
  async #attempt(writes: readonly QueuedWrite[], lock: LockWay, locked?: Locked): Promise<Attempted> {
    const { postgres, signer, mostZones } = this.#options;
    const alone = isAlone(writes, lock) ? writes[0]?.write : undefined;
    for (let left = alone?.isLarge ? triesApart : 0; alone && left > 0; left--) {
      const attempted = await this.#attemptApart(alone, lock);
      if (attempted !== undefined) return attempted;
    }
    return await postgres.transact(async (run) => {
      const needs = writes.map(({ write }) => write);
      const loaded = await loadBatch(run, needs, { lock, signer, alone: alone !== undefined, mostZones });
      locked?.(new Set(loaded.zones.map(({ number }) => number)));
      const plan = alone
        ? await this.#whileAlive(run, async () => await this.#planAlone(alone, loaded, await mayStage(run)))
        : this.#planTogether(needs, loaded);
      return await this.#writePlan(plan, run);
    }, writes[0]?.since);
  }

  /**
   * A plan may take longer than a transaction may be idle, so it is made of what one transaction has read, and written
   * by another. Undefined if what it depends on has changed meanwhile.
   */
  async #attemptApart(write: Write<unknown>, lock: LockWay): Promise<Attempted | undefined> {
    const { postgres, signer, mostZones } = this.#options;
    const load = async (run: RunStatement, needs: WriteNeeds) =>
      await loadBatch(run, [needs], { lock, signer, alone: true, mostZones });
    const { result: read } = await postgres.transact(async (run) => ({
      result: { loaded: await load(run, write), staged: await mayStage(run) },
    }));
    const plan = await this.#planAlone(write, read.loaded, read.staged);
    const { result, last } = await postgres.transact<Attempted["result"] | undefined>(async (run) => {
      const isCurrent = isSameBasis(read.loaded, await load(run, withoutContent(write)));
      return isCurrent ? await this.#writePlan(plan, run) : { result: undefined };
    });
    return result && { result, last };
  }

  #planTogether(writes: readonly Write<unknown>[], loaded: LoadedBatch): BatchPlan {
    const batch = new PostgresBatch(loaded, { isAlone: false, mostValues: this.#options.mostValues });
    const fates = writes.map((write): Fate => {
      const busy = busyFor(write, loaded.busy, loaded.places);
      return busy ? { kind: "busy", ...busy } : fateNow(write, batch);
    });
    const [outcome, link] = [batch.outcome(), randomInt(mostLink)];
    return { fates, outcome, link, statements: finish(writeStatements(outcome, link)) };
  }

  async #planAlone(write: Write<unknown>, loaded: LoadedBatch, mayStage: boolean): Promise<BatchPlan> {
    const account = write.needs[0]?.account ?? write.creates?.account ?? 0;
    const batch = new PostgresBatch(loaded, { isAlone: true, mostValues: this.#options.mostValues });
    const fates = [await fateOf(() => this.#schedule.run(account, write.run(batch)))];
    const [outcome, link] = [batch.outcome(), randomInt(mostLink)];
    const writing = writeStatements(outcome, link, mayStage && isStaged(outcome));
    return { fates, outcome, link, statements: await this.#schedule.run(account, writing) };
  }

  /** All statements exist before the first one runs: those that write the log make all writers wait. */
  async #writePlan({ fates, outcome, link, statements }: BatchPlan, run: RunStatement) {
    const last = statements.at(-1);
    for (const statement of [...this.#options.purge(outcome), ...statements.slice(0, -1)]) await run(statement);
    return { result: { fates, log: outcome.log, link }, ...(last && { last }) };
  }

  /** The transaction must not look abandoned meanwhile. */
  async #whileAlive<T>(run: RunStatement, work: () => Promise<T>): Promise<T> {
    const alive = setInterval(() => void run({ text: "SELECT 1" }).catch(() => undefined), aliveEvery);
    try {
      return await work();
    } finally {
      clearInterval(alive);
    }
  }

  #isRepeatedAlone(each: QueuedWrite, fate: Settled, wasAlone: boolean): boolean {
    const error = fate.kind === "failed" ? fate.error : undefined;
    const whole = error instanceof ReadWholeZone && !each.write.whole;
    if (!whole && (wasAlone || !(error instanceof RunAlone))) return false;
    this.#enterKeyedQueue(`alone ${++this.#made}`, whole ? { ...each, write: { ...each.write, whole } } : each);
    return true;
  }

  #enterKeyedQueue(key: string, each: QueuedWrite, because = "a zone is locked by another transaction"): void {
    const end = each.since + this.#options.lockLimit;
    const fail = (error: Error) => this.#settle(each, { kind: "failed", error });
    this.#queues.add(key, { item: each, end, because, fail });
  }

  #failAll(writes: readonly QueuedWrite[], error: unknown): void {
    for (const each of writes) this.#settle(each, { kind: "failed", error });
  }

  #settle(each: QueuedWrite, fate: Settled): void {
    const { counters } = this.#options;
    counters.waiting -= 1;
    counters[fate.kind === "done" ? "writes" : "failed"] += 1;
    if (fate.kind === "done") each.settle(fate.value);
    else each.fail(fate.error);
  }
}

const nothing: Locks = { zones: new Set(), names: new Set() };

const defaultMostWaiting = 5_000;

/** What takes long is done in a queue of its own: the next batch waits for what this one has locked. */
const isAlone = (writes: readonly unknown[], { kind }: LockWay): boolean => kind === "wait" && writes.length === 1;

/** Everybody may create temporary tables, unless an administrator has revoked it. */
async function mayStage(run: RunStatement): Promise<boolean> {
  const text = "SELECT has_database_privilege(current_database(), 'TEMPORARY') AS may";
  return ((await run({ text })).rows as { readonly may: boolean }[])[0]?.may === true;
}

/** The same write, to see what its plan depends on without reading the content of its zones again. */
const withoutContent = ({ run: _, whole: _whole, ...write }: Write<unknown>): WriteNeeds => ({
  ...write,
  needs: write.needs.map((need) => ({ ...need, owners: () => [] })),
});

/** Whether what a plan depends on is unchanged. Every change of a zone's content also changes its row. */
function isSameBasis(planned: LoadedBatch, now: LoadedBatch): boolean {
  const basis = ({ zones, places, keys, taken, neighbours, departed, ended, zoneCounts }: LoadedBatch) => [
    ...[zones, places, keys, taken, neighbours, departed, ended, zoneCounts],
  ];
  return isDeepStrictEqual(basis(planned), basis(now));
}

/** Called with the zones that are locked now. */
type Locked = (zones: ReadonlySet<number>) => void;

function fateNow(write: Write<unknown>, batch: PostgresBatch): Settled {
  try {
    return { kind: "done", value: finish(write.run(batch)) };
  } catch (error) {
    return failedBy(error);
  }
}

async function fateOf(run: () => Promise<unknown>): Promise<Settled> {
  try {
    return { kind: "done", value: await run() };
  } catch (error) {
    return failedBy(error);
  }
}

function failedBy(error: unknown): Settled {
  if (error instanceof SpoiledBatch) throw error;
  return { kind: "failed", error };
}

function positioned(log: readonly Omit<LoggedRow, "position">[], link: number, answer: readonly unknown[]) {
  const [{ end, before }] = answer as [{ end: number; before: number | null }];
  const start = end - log.length;
  const rows = log.map((row, i) => ({ position: start + i + 1, ...row }));
  // After several statements, `before` is the link of this write itself, which nobody knows yet: its rows are then
  // read.
  return { rows, places: { after: placeAt(start, before), end: placeAt(end, link) } };
}
