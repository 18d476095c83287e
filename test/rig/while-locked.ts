import { DatabaseSync } from "node:sqlite";

/** Milliseconds. A build takes a few seconds on an idle machine. */
const longest = 600_000;

/** One process at a time. The lock is SQLite's on this file, so it ends with its process, however that ends. */
export function whileLocked(file: string, work: () => void): void {
  const lock = new DatabaseSync(file, { timeout: longest });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    work();
  } finally {
    lock.close();
  }
}
