import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Brings to the disk what was committed before. */
export type DiskSync = {
  readonly sync: () => Promise<void>;
  readonly syncNow: () => void;
  readonly close: () => void;
};

/**
 * With `synchronous=FULL`, SQLite ends a commit with a sync of the write-ahead log, and everything waits for the disk. With
 * NORMAL it leaves that one sync out and keeps all others (https://sqlite.org/pragma.html#pragma_synchronous); this does it
 * in its place, beside the event loop. The log file stays the same one as long as a connection is open.
 */
export function openWalSync(database: DatabaseSync, path: string): DiskSync {
  if (path === ":memory:") return { sync: async () => undefined, syncNow: () => undefined, close: () => undefined };
  database.exec("PRAGMA synchronous = NORMAL");
  // Whoever writes opens the log, and it may not be there yet.
  let file: number | undefined;
  const log = () => {
    file ??= openSync(`${path}-wal`, "r+");
    return file;
  };
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(log(), (error) => (error ? reject(error) : resolve()));
      }),
    syncNow: () => fdatasyncSync(log()),
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
