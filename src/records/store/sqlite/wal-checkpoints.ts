import { Worker } from "node:worker_threads";
import type { Logger } from "../../../process/log.ts";

/** So many changes in so many milliseconds: fewer are brought over by SQLite itself, in passing. */
const many = 500;
const window = 1_000;
/** Until a thread is tried again that could not begin, as when no more files may be open. */
const pause = 60_000;

/**
 * Sooner or later what stands in SQLite's write-ahead log must go into the database file. SQLite does that at the end of a
 * commit, and every request waits for it: up to 50 ms when the changes are spread over a large file. While many changes come, a
 * thread with a connection of its own does most of it beside them (https://sqlite.org/wal.html#ckpt).
 */
export function startWalCheckpoints(
  path: string,
  log: Logger,
  { now = () => performance.now(), begin = beginThread }: { now?: () => number; begin?: typeof beginThread } = {},
) {
  let worker: Worker | undefined;
  let busy = false;
  let count = 0;
  let since = 0;
  let failed: number | undefined;

  // Until it is tried again SQLite goes on by itself.
  const giveUp = (error: unknown) => {
    if (failed === undefined) log.warn({ err: error }, "the write-ahead log is brought over while requests wait");
    failed = now();
    worker = undefined;
    busy = false;
  };

  const start = (): Worker => {
    const started = begin(path);
    started.unref();
    started.on("message", () => {
      busy = false;
      failed = undefined;
    });
    started.on("error", giveUp);
    return started;
  };

  return {
    wrote: (changes: number): void => {
      const at = now();
      if (at - since > window) [since, count] = [at, 0];
      count += changes;
      if (count < many || busy || (failed !== undefined && at - failed < pause)) return;
      busy = true;
      count = 0;
      try {
        worker ??= start();
        worker.postMessage("go");
      } catch (error) {
        // The system gives no more threads. Whoever wrote is not to hear of it: his change is stored.
        giveUp(error);
      }
    },
    close: async (): Promise<void> => {
      await worker?.terminate();
    },
  };
}

const beginThread = (path: string): Worker => new Worker(program, { eval: true, workerData: { path } });

const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const checkpoint = new DatabaseSync(workerData.path).prepare("PRAGMA wal_checkpoint(PASSIVE)");
  parentPort.on("message", () => parentPort.postMessage(checkpoint.get()));
`;
