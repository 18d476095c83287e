import { randomInt } from "node:crypto";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { Postgres } from "../../../lib/postgres/open.ts";
import { observe } from "../../../process/metrics.ts";
import type { LoggedRow } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import type { StoreCounters } from "../counters.ts";
import type { AddedPlaces } from "../port.ts";
import { type Batch, createBatch, ReadWhole, RunAlone, SpoiledBatch } from "./batch.ts";
import { loadBatch, type Wish } from "./batch-read.ts";
import { writeStatements } from "./batch-write.ts";
import { mostLink, placeAt } from "./log.ts";
import type { Purge } from "./purge.ts";

/** One write: what it needs to see, and what it does. `run` may be called again, and must touch nothing but the batch. */
export type Write<T> = Wish & { readonly run: (batch: Batch) => T };

export type QueueOptions = {
  readonly postgres: Postgres;
  readonly purge: Purge;
  readonly counters: StoreCounters;
  /** Called after each commit with the rows it added to the log; without them if they are unknown. */
  readonly committed: (rows?: readonly LoggedRow[], places?: AddedPlaces) => void;
  readonly signer?: Signer | undefined;
  /** Further writes are refused immediately. */
  readonly mostWaiting?: number;
};

type Waiting = {
  readonly write: Write<unknown>;
  readonly settle: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
};
type Fate = { readonly kind: "done"; readonly value: unknown } | { readonly kind: "failed"; readonly error: unknown };

/** Two batches: while one waits for the disk, the other reads. More would only make batches smaller. */
const mostBatches = 2;
const largestBatch = 500;

/**
 * Writes that wait together share one transaction, with three round trips in total. Writes to one zone are serialized
 * by its lock, across all nodes. If the rule of one write throws, the others still succeed.
 */
export function createWriteQueue(options: QueueOptions) {
  const { postgres, purge, counters, committed, signer, mostWaiting = 5_000 } = options;
  let waiting: Waiting[] = [];
  const running = new Set<Promise<void>>();
  let scheduled = false;
  /** The next batch starts when this one has its locks, so that writes to one zone stay in order. */
  let locking: readonly Waiting[] | undefined;

  const pump = (): void => {
    scheduled = false;
    if (waiting.length === 0 || locking !== undefined || running.size >= mostBatches) return;
    const batch = waiting.slice(0, largestBatch);
    waiting = waiting.slice(largestBatch);
    locking = batch;
    const locked = () => {
      if (locking !== batch) return;
      locking = undefined;
      pump();
    };
    const run = runBatch(batch, locked).finally(() => {
      running.delete(run);
      locked();
      pump();
    });
    running.add(run);
  };
  const schedule = (): void => {
    if (scheduled || running.size >= mostBatches) return;
    scheduled = true;
    setImmediate(pump);
  };

  const attempt = (writes: readonly Waiting[], locked: () => void) =>
    postgres.transact(async (run) => {
      const wishes = writes.map(({ write }) => write);
      const batch = createBatch(await loadBatch(run, wishes, signer), signer, writes.length === 1);
      locked();
      const fates = writes.map(({ write }) => fateOf(write, batch));
      await batch.signRest();
      const outcome = batch.outcome();
      const link = randomInt(mostLink);
      const statements = writeStatements(outcome, link);
      const last = statements.at(-1);
      for (const statement of [...purge(outcome), ...statements.slice(0, -1)]) await run(statement);
      return { result: { fates, log: outcome.log, link }, ...(last && { last }) };
    });

  const settle = (each: Waiting, fate: Fate): void => {
    counters.waiting -= 1;
    counters[fate.kind === "done" ? "writes" : "failed"] += 1;
    if (fate.kind === "done") each.settle(fate.value);
    else each.fail(fate.error);
  };

  const runBatch = async (writes: readonly Waiting[], locked = () => {}): Promise<void> => {
    const begun = performance.now();
    try {
      const { result, last } = await attempt(writes, locked);
      const { fates, log, link } = result;
      counters.commits += 1;
      observe(counters.commitSeconds, (performance.now() - begun) / 1_000);
      if (log.length > 0) {
        const added = last && positioned(log, link, last.rows);
        committed(added?.rows, added?.places);
      }
      const alone = writes.filter(
        ({ write }, i) => isAlone(fates[i]) && (writes.length > 1 || (wantsWhole(fates[i]) && !write.whole)),
      );
      for (const [i, each] of writes.entries()) {
        const fate = fates[i];
        if (alone.includes(each) || fate === undefined) continue;
        settle(each, fate);
      }
      for (const each of alone) {
        const whole = wantsWhole(fates[writes.indexOf(each)]);
        await runBatch([whole ? { ...each, write: { ...each.write, whole } } : each]);
      }
    } catch (error) {
      if (writes.length === 1 || error instanceof StoreBusy)
        for (const each of writes) settle(each, { kind: "failed", error });
      else for (const each of writes) await runBatch([each]);
    }
  };

  return {
    add: <T>(write: Write<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        if (waiting.length >= mostWaiting) {
          reject(new StoreBusy("too many writes are waiting"));
          return;
        }
        counters.waiting += 1;
        waiting.push({ write, settle: (value) => resolve(value as T), fail: reject });
        schedule();
      }),
    /** Resolves when every added write is settled. */
    drain: async (): Promise<void> => {
      while (waiting.length > 0 || running.size > 0) {
        pump();
        await Promise.race(running);
      }
    },
  };
}

const isAlone = (fate: Fate | undefined): boolean => fate?.kind === "failed" && fate.error instanceof RunAlone;

const wantsWhole = (fate: Fate | undefined): boolean => fate?.kind === "failed" && fate.error instanceof ReadWhole;

function fateOf(write: Write<unknown>, batch: Batch): Fate {
  try {
    return { kind: "done", value: write.run(batch) };
  } catch (error) {
    if (error instanceof SpoiledBatch) throw error;
    return { kind: "failed", error };
  }
}

function positioned(log: readonly Omit<LoggedRow, "position">[], link: number, answer: readonly unknown[]) {
  const [{ end, before }] = answer as [{ end: number; before: number | null }];
  const start = end - log.length;
  const rows = log.map((row, i) => ({ position: start + i + 1, ...row }));
  // After several statements, `before` is the link of this write itself, which nobody knows yet: its rows are then read.
  return { rows, places: { after: placeAt(start, before), end: placeAt(end, link) } };
}
