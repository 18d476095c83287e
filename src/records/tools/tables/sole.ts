import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { sqliteKind, sqliteKinds } from "../../../process/sqlite/faults.ts";

/**
 * A database file for oneself. In WAL mode every connection holds a shared lock as long as it is open, so an exclusive one is
 * got only when there is no other: that is how a running service is noticed, also one in a container of its own.
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
    // What is no database nobody uses; whoever opens it is told.
    if (sqliteKind(error) === sqliteKinds.noDatabase) return false;
    throw error;
  }
}
