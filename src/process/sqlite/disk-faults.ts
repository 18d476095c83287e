import { sqliteKind, sqliteKinds } from "./faults.ts";

/** An error as people are told it, when the disk of a folder takes no more of what is being made there. */
export function asDiskTrouble(error: unknown, folder: string): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  const why = isFullDisk(error) ? full : reasons[code];
  return why === undefined ? error : new Error(`the folder ${folder} cannot be written: ${why}`, { cause: error });
}

const full = "its disk is full; make room there, or name another place";

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: full,
  EDQUOT: "this user may not have more of its disk; make room there, or name another place",
  EROFS: "its disk is read-only; name another place",
};

/** As SQLite says it. */
export const isFullDisk = (error: unknown): boolean => sqliteKind(error) === sqliteKinds.full;
