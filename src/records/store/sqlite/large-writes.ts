import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { inSteps, type Steps } from "../../../core/steps.ts";
import { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { Zone } from "../../model.ts";
import type { Plan, ZoneWrite } from "../plan-rule.ts";
import type { Command } from "../port.ts";
import { type AsideTools, withAsides } from "../signed/sign-aside.ts";
import type { AsideNeeded, SignedAside } from "../signed-effect.ts";
import { createLargeWritePauses } from "./large-write-pauses.ts";
import { type ManyRows, preparingRows } from "./many-rows.ts";
import { isCurrent, type PlannableWrite, planOn, writingZone } from "./planned-write.ts";
import type { WriteConnection } from "./write-connection.ts";
import type { WriteQueue } from "./write-queue.ts";

type ReadyWrite = { readonly write: ZoneWrite; readonly rows: ManyRows };

type ReadyPlan = { readonly plan: Plan<unknown>; readonly writes: readonly ReadyWrite[] };

export type LargeWritesOptions = {
  readonly queue: WriteQueue;
  readonly main: WriteConnection;
  /** Opens another connection; undefined if there can be only one. */
  readonly open: (() => WriteConnection) | undefined;
  readonly pauses?: ReturnType<typeof createLargeWritePauses>;
  /** Signs the names of a large zone before it is written. */
  readonly sign?: (needed: AsideNeeded, tools: LargeWriteTools) => Promise<SignedAside>;
};

type LargeWriteTools = Pick<AsideTools, "signal"> & { readonly schedule: FairSchedule };
type Done = { readonly result: unknown };

/** If the zone changes during this many attempts, the write is planned again while other writes wait. */
const tries = 3;
/**
 * Milliseconds of work per turn of the event loop. Twice as long saves a tenth of the time, but DNS answers wait for
 * it.
 */
const part = 5;
/**
 * The same while a write is only planned, and no other write waits for that. A small write is delayed by up to two such
 * parts: before its transaction, and after the sync.
 */
const partOfPlan = 3;
/** Of the connection that is writing, in KiB. A larger one would make the commit itself take too long. */
const cache = 16 * 1024;
/** Large writes of one account. */
const mostWaiting = 100;
/** Milliseconds. If the account's pause takes longer, the write is refused. */
const longestWait = 30_000;

/**
 * A large write would block the process for too long in a transaction with others, so it gets its own connection: there
 * it is planned from a snapshot, and written if its zones are still as they were, a few milliseconds per turn of the
 * event loop. Meanwhile other requests read the state before it; only other writes wait while it is written. Each
 * account has one large write at a time, and must pause after one that made others wait long.
 */
export class LargeWrites {
  readonly #queue: WriteQueue;
  readonly #main: WriteConnection;
  readonly #open: LargeWritesOptions["open"];
  readonly #sign: LargeWritesOptions["sign"];
  readonly #pauses: ReturnType<typeof createLargeWritePauses>;
  readonly #schedule = new FairSchedule({ part: partOfPlan, mostWaiting });
  readonly #connections = new Set<WriteConnection>();
  readonly #closing = new AbortController();

  constructor({ queue, main, open, sign, pauses = createLargeWritePauses() }: LargeWritesOptions) {
    this.#queue = queue;
    this.#main = main;
    this.#open = open;
    this.#sign = sign;
    this.#pauses = pauses;
  }

  /** For a write that exceeds the limits. */
  async commit(account: number, write: PlannableWrite): Promise<unknown> {
    const open = this.#open;
    if (open === undefined) throw new Error("a store with one connection makes every write small");
    const { result } = await this.#inTurn(account, () =>
      withAsides(
        (needed) => this.#signAside(needed),
        async (asides) => await this.#writeLarge(account, { ...write, options: { ...write.options, asides } }, open),
      ),
    );
    return result;
  }

  /** Works in the pauses of other work. */
  readonly tools = (): LargeWriteTools => ({ schedule: this.#schedule, signal: this.#closing.signal });

  async #signAside(needed: AsideNeeded): Promise<SignedAside> {
    if (this.#sign === undefined) throw new Error("this store was opened without a key file");
    return await this.#sign(needed, this.tools());
  }

  /** Rolls back large writes that have not ended. */
  close(): void {
    this.#closing.abort(closed());
    for (const { database } of this.#connections) database.close();
    this.#connections.clear();
  }

  async #inTurn<T>(account: number, write: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    const release = await this.#schedule.hold(account, signal);
    try {
      const pause = this.#pauses.left(account);
      if (pause > longestWait) throw tooLong(pause);
      if (pause > 0) await sleep(pause, undefined, { signal });
      return await write();
    } catch (error) {
      throw signal.aborted ? closed(error) : error;
    } finally {
      release();
    }
  }

  async #writeLarge(account: number, write: PlannableWrite, open: () => WriteConnection): Promise<Done | AsideNeeded> {
    for (let left = tries; ; left--) {
      this.#closing.signal.throwIfAborted();
      const connection = open();
      this.#connections.add(connection);
      try {
        const done =
          left > 0
            ? await this.#tryOnce(account, write, connection)
            : await this.#write(account, connection, write.command, async () => {
                const plan = await this.#plan(account, write, connection);
                if (plan.needs) throw new StoreBusy(changesTooFast);
                return { plan, writes: await Promise.all(plan.writes.map((each) => this.#prepareRows(account, each))) };
              });
        if (done !== undefined) return done;
      } finally {
        this.#connections.delete(connection);
        if (connection.database.isOpen) connection.database.close();
      }
    }
  }

  /** Undefined if the zone has changed meanwhile. */
  async #tryOnce(
    account: number,
    write: PlannableWrite,
    connection: WriteConnection,
  ): Promise<Done | AsideNeeded | undefined> {
    connection.database.exec("BEGIN");
    const plan = await this.#plan(account, write, connection);
    connection.database.exec("COMMIT");
    if (plan.needs !== undefined) return plan.needs;
    const writes: ReadyWrite[] = [];
    for (const each of plan.writes) writes.push(await this.#prepareRows(account, each));
    if (writes.length > 0) return await this.#write(account, connection, write.command, async () => ({ plan, writes }));
    const main = this.#main;
    return await this.#queue.commit(() => (isCurrent(plan, main) ? { result: plan.finish(main, []) } : undefined));
  }

  async #plan(account: number, write: PlannableWrite, connection: WriteConnection): Promise<Plan<unknown>> {
    return await this.#schedule.run(account, inSteps(planOn(connection, write)));
  }

  async #prepareRows(account: number, write: ZoneWrite): Promise<ReadyWrite> {
    return { write, rows: await this.#schedule.run(account, preparingRows(write)) };
  }

  /**
   * Undefined if the plan is out of date. That cannot happen if `plans` creates the plan inside this transaction, under
   * the write lock.
   */
  #write(account: number, connection: WriteConnection, command: Command, plans: () => Promise<ReadyPlan>) {
    return this.#queue.onOtherConnection(async () => {
      const { database, rowCache, writer } = connection;
      const begun = process.threadCpuUsage();
      try {
        database.exec(`BEGIN IMMEDIATE; PRAGMA cache_size = -${cache}`);
        // What was read for the plan may be outdated.
        rowCache.forget();
        connection.expectAccess(command);
        const { plan, writes } = await plans();
        if (!isCurrent(plan, connection)) return undefined;
        writer.begin();
        const after: Zone[] = [];
        for (const { write, rows } of writes) after.push(await finishInParts(writingZone(connection, write, rows)));
        const result = plan.finish(connection, after);
        writer.writeZones();
        const { trouble } = this.#queue;
        if (trouble !== undefined) throw trouble;
        database.exec("COMMIT");
        this.#main.rowCache.forget();
        return { result: { result }, committed: writer.logged() };
      } finally {
        if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
        if (this.#queue.isAwaitedByOthers(account))
          this.#pauses.heldUp(account, milliseconds(process.threadCpuUsage(begun)));
      }
    });
  }
}

const changesTooFast = "the settings of this zone are being changed by others; try again";

const tooLong = (pause: number) =>
  new StoreBusy("the last large write of this account delayed other accounts too long; send smaller writes", {
    retryAfter: Math.ceil(pause / 1_000),
    isLogged: true,
  });

/** In processor time: on a busy machine every write takes long, which is not the account's fault. */
const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;

const closed = (cause?: unknown) => new Error("the store is closed", { cause });

/** Others wait for the end, so it gives way less often than `FairSchedule`. */
async function finishInParts<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const ended = stepsWithin(part, steps);
    if (ended !== undefined) return ended.value;
    await nextTurn();
  }
}

/** Runs steps for this many milliseconds; undefined if there are more. */
function stepsWithin<T>(time: number, steps: Steps<T>): { readonly value: T } | undefined {
  const end = performance.now() + time;
  do {
    const step = steps.next();
    if (step.done) return step;
  } while (performance.now() < end);
  return undefined;
}
