import { StoreBusy } from "../limits/store-busy.ts";

/**
 * Turns an error caused by the disk or by another process into `StoreBusy`: it may be over soon, and nothing was
 * written.
 */
export function asStoreBusy(error: unknown): unknown {
  const kind = sqliteKind(error);
  const reason = kind === undefined ? undefined : reasons.get(kind);
  return reason === undefined
    ? error
    : new StoreBusy(reason, { cause: error, retryAfter: 10, isUnable: kind !== sqliteKinds.busy });
}

/** https://sqlite.org/rescode.html */
export const sqliteKinds = {
  busy: 5,
  readOnly: 8,
  failing: 10,
  damaged: 11,
  full: 13,
  unopened: 14,
  noDatabase: 26,
} as const;

/** The lowest byte is the primary result code. */
export function sqliteKind(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

const reasons: ReadonlyMap<number, string> = new Map([
  [sqliteKinds.busy, "the database is in use by another program"],
  [sqliteKinds.readOnly, "the disk of the service is not writable"],
  [sqliteKinds.failing, "the disk of the service has errors"],
  [sqliteKinds.full, "the disk of the service is full"],
]);

/** What to do if SQLite cannot use a file that is probably intact; undefined if the file itself is bad. */
export const todoBesideFile = (error: unknown): string | undefined => todos.get(sqliteKind(error) ?? 0);

const diskTodo =
  "The disk is full or has errors; the file itself may be intact. Keep it, and free some space or repair the disk.";
const ownerTodo =
  "Make sure that the user who runs this can read and write the file and its folder: change the owner of both with chown.";

const todos: ReadonlyMap<number, string> = new Map([
  [sqliteKinds.busy, "Another program is using the file. Try again when it has finished."],
  // Usually the file belongs to another user: a command was run as root, the service is not.
  [sqliteKinds.readOnly, ownerTodo],
  [sqliteKinds.unopened, ownerTodo],
  [sqliteKinds.failing, diskTodo],
  [sqliteKinds.full, diskTodo],
]);

/** A readable error if the folder's disk is full or read-only. */
export function asDiskTrouble(error: unknown, folder: string): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  const why = isFullDisk(error) ? full : diskReasons[code];
  return why === undefined ? error : new Error(`the folder ${folder} cannot be written: ${why}`, { cause: error });
}

const full = "its disk is full; free some space, or choose another folder";

const diskReasons: Readonly<Record<string, string>> = {
  ENOSPC: full,
  EDQUOT: "the disk quota of this user is used up; free some space, or choose another folder",
  EROFS: "its disk is read-only; choose another folder",
};

/** As reported by SQLite, not by the file system. */
export const isFullDisk = (error: unknown): boolean => sqliteKind(error) === sqliteKinds.full;
