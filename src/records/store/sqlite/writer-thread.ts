import { DatabaseSync } from "node:sqlite";
import { parentPort, type Worker } from "node:worker_threads";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { sqliteRows, sqliteSql } from "../../../lib/sqlite/run-sql.ts";
import { OverQuota } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import { AccessEnded, type RuleOf } from "../port.ts";
import { type RecordLimits, RecordQuota } from "../record-limits.ts";
import { directWrite, writeSmall } from "./direct-write.ts";
import { watchOtherCommits } from "./other-commits.ts";
import { planningOf } from "./plan-writes.ts";
import { smallWriteLimits } from "./planned-write.ts";
import { transactionHooks, WriteConnection } from "./write-connection.ts";
import { type Batch, type Job, type JobRunner, runBatch } from "./write-queue.ts";

/** Instead of a batch. */
const close = "close";

type ThreadBatch = Batch & { readonly hasOtherCommit: boolean };

/**
 * The thread that writes, as the main thread sees it. A batch goes there and back as one text: JSON costs half of a
 * structured clone.
 */
export class WriterThread implements JobRunner {
  readonly #start: () => Worker;
  readonly #onForeign: () => void;
  #worker: Worker | undefined;
  #answer: PromiseWithResolvers<Batch> | undefined;

  /** `onForeign` is called if another connection has committed since the batch before. */
  constructor(start: () => Worker, onForeign: () => void) {
    this.#start = start;
    this.#onForeign = onForeign;
  }

  get isStarted(): boolean {
    return this.#worker !== undefined;
  }

  /** One batch at a time. Rejects if the thread ends; its batch was written completely or not at all. */
  run(jobs: readonly Job[]): Promise<Batch> {
    const answer = Promise.withResolvers<Batch>();
    try {
      this.#worker ??= this.#begin();
      this.#worker.ref();
      this.#worker.postMessage(JSON.stringify(jobs));
      this.#answer = answer;
    } catch (error) {
      answer.reject(new StoreBusy("the thread that writes could not be started", { cause: error }));
    }
    return answer.promise;
  }

  /** After the last batch. */
  async end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.ref();
    worker.postMessage(close);
    await ended;
  }

  #begin(): Worker {
    const worker = this.#start();
    let cause: Error | undefined;
    worker.on("message", (text: string) => {
      worker.unref();
      const { outcomes, hasOtherCommit, ...batch } = JSON.parse(text) as ThreadBatch;
      this.#answer?.resolve({ ...batch, outcomes: outcomes.map(asThrown) });
      if (hasOtherCommit) this.#onForeign();
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => {
      // The next batch starts another one.
      this.#worker = undefined;
      this.#answer?.reject(
        new StoreBusy("the thread that writes has ended; the last writes may or may not have been stored", { cause }),
      );
    });
    return worker;
  }
}

export type WriterStart = {
  readonly path: string;
  readonly keyFile: string;
  readonly limits?: RecordLimits | undefined;
};

/** The program of the thread. An error outside of a batch ends it, and the main thread starts another one. */
export function writeAsThread(path: string, signer: Signer, ruleOf: RuleOf, limits?: RecordLimits): void {
  const database = openWriter(path);
  const otherCommits = watchOtherCommits(database);
  const connection = new WriteConnection(database, limits?.set, signer);
  const { rowCache } = connection;
  let hasOtherCommit = false;
  otherCommits.onCommit(() => {
    rowCache.forget();
    hasOtherCommit = true;
  });
  const hooks = transactionHooks(connection, otherCommits);
  const recordQuota = limits && new RecordQuota(limits, sqliteSql(database));
  const rows = sqliteRows(database);
  const workOf = (job: Job): (() => unknown) => {
    switch (job.kind) {
      case "sql":
        return () => rows(job.words, job.values);
      case "command": {
        const { command } = job;
        return () => {
          const rule = ruleOf(command);
          const write = { planning: planningOf({ signer, recordQuota }, rule), command };
          return writeSmall(connection, write, directWrite(rule, recordQuota), smallWriteLimits);
        };
      }
      case "check-commits":
        return () => undefined;
      default:
        return job satisfies never;
    }
  };
  parentPort?.on("message", (text: string) => {
    if (text === close) {
      database.close();
      parentPort?.close();
      return;
    }
    const jobs = JSON.parse(text) as readonly Job[];
    hasOtherCommit = false;
    const { outcomes, ...batch } = runBatch(database, hooks, jobs.map(workOf));
    parentPort?.postMessage(JSON.stringify({ ...batch, hasOtherCommit, outcomes: outcomes.map(asPlain) }));
  });
}

/** Checkpoints are the task of another thread (`wal-checkpoints.ts`); beyond that, they are rare. */
function openWriter(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(settings);
  return database;
}

const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 16000;
  PRAGMA cache_size = -65536;
`;

type PlainError = {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly errcode: unknown;
  readonly isAccessEnded: boolean;
  /** Of a `StoreBusy`. */
  readonly retryAfter: number | undefined;
  readonly isTooMany: boolean;
};

function asPlain(outcome: Batch["outcomes"][number]): object {
  if (!("error" in outcome)) return outcome;
  const { name, message, stack, errcode } = outcome.error as Error & { readonly errcode?: unknown };
  const isAccessEnded = outcome.error instanceof AccessEnded;
  const retryAfter = outcome.error instanceof StoreBusy ? outcome.error.retryAfter : undefined;
  const isTooMany = outcome.error instanceof OverQuota;
  return { error: { name, message, stack, errcode, isAccessEnded, retryAfter, isTooMany } satisfies PlainError };
}

function asThrown(outcome: Batch["outcomes"][number]): Batch["outcomes"][number] {
  if (!("error" in outcome)) return outcome;
  const { message, isAccessEnded, retryAfter, isTooMany, ...rest } = outcome.error as PlainError;
  if (isTooMany) return { error: new OverQuota(message) };
  if (retryAfter !== undefined) return { error: new StoreBusy(message, { retryAfter }) };
  return { error: isAccessEnded ? new AccessEnded() : Object.assign(new Error(message), rest) };
}
