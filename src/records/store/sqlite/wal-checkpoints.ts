import { Worker } from "node:worker_threads";
import type { Logger } from "../../../process/log.ts";

/**
 * Start at this many changes within this many milliseconds. For fewer, SQLite's automatic checkpoints are good enough.
 */
const many = 500;
const window = 1_000;
/** Milliseconds until the thread is tried again after it failed to start, for example with too many open files. */
const pause = 60_000;

/**
 * SQLite checkpoints its write-ahead log into the database file at the end of a commit, and every request waits for
 * that: up to 50 ms if the changes are spread over a large file. While there are many changes, a thread with a
 * separate connection does most of this in the background (https://sqlite.org/wal.html#ckpt).
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

  // Until the thread is tried again, only SQLite's automatic checkpoints run.
  const giveUp = (error: unknown) => {
    if (failed === undefined)
      log.warn({ err: error }, "background checkpoints failed, so requests may wait longer; trying again every minute");
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
        // No thread could be started. The writer must not see this error: the change is stored.
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
