import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { sqliteKind, sqliteKinds } from "./faults.ts";
import { DatabaseTrouble } from "./migration-steps.ts";

/**
 * Opens a database file exclusively. In WAL mode every open connection holds a shared lock, so the exclusive lock is
 * granted only if there is no other connection. This detects a running service, even in another container.
 */
export function takeSole(path: string): DatabaseSync | "in-use" {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 200; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    return database;
  } catch (error) {
    database.close();
    if (sqliteKind(error) === sqliteKinds.busy) return "in-use";
    throw error;
  }
}

export function isInUse(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const sole = takeSole(path);
    if (sole !== "in-use") sole.close();
    return sole === "in-use";
  } catch (error) {
    // A file that is not a database is not in use; opening it reports what is wrong.
    if (sqliteKind(error) === sqliteKinds.noDatabase) return false;
    throw error;
  }
}

/**
 * For the life of a service: a second one on the same files is refused with `message`. The lock ends with the process,
 * however it ends.
 */
export function lockFor(path: string, message: string): { readonly close: () => void } {
  // SQLite would let everybody read it.
  closeSync(openSync(path, "a", 0o600));
  const lock = takeSole(path);
  if (lock === "in-use") throw new DatabaseTrouble(message);
  return { close: () => lock.close() };
}
