import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Syncs everything that was committed before the call. */
export type DiskSync = {
  readonly sync: () => Promise<void>;
  readonly syncNow: () => void;
  readonly close: () => void;
};

/**
 * With `synchronous=FULL`, SQLite ends a commit with a sync of the write-ahead log, and everything waits for the
 * disk. With NORMAL it skips only that sync (https://sqlite.org/pragma.html#pragma_synchronous); this does it
 * instead, off the event loop. The log stays the same file while a connection is open.
 */
export function openWalSync(database: DatabaseSync, path: string): DiskSync {
  if (path === ":memory:") return { sync: async () => undefined, syncNow: () => undefined, close: () => undefined };
  database.exec("PRAGMA synchronous = NORMAL");
  // The log is created by the first write, so it may not exist yet.
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
