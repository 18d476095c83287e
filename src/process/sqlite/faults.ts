import { StoreBusy } from "../database/store-busy.ts";

/** What the disk or another process is at fault for, and what may be over soon: nothing was written. */
export function asStoreBusy(error: unknown): unknown {
  const kind = sqliteKind(error);
  const reason = kind === undefined ? undefined : reasons.get(kind);
  return reason === undefined ? error : new StoreBusy(reason, { cause: error, retryAfter: 10 });
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

/** The lowest byte is what kind it is. */
export function sqliteKind(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

const reasons: ReadonlyMap<number, string> = new Map([
  [sqliteKinds.busy, "the database is in use by another program"],
  [sqliteKinds.readOnly, "the disk of the service cannot be written"],
  [sqliteKinds.failing, "the disk of the service fails"],
  [sqliteKinds.full, "the disk of the service is full"],
]);

/** What to do about a file that SQLite cannot use now though nothing need be wrong with it; undefined when something is. */
export const todoBesideFile = (error: unknown): string | undefined => todos.get(sqliteKind(error) ?? 0);

const diskTodo = "The disk is full or fails, and the file may be good: leave it, and make room or mend the disk.";
const ownerTodo =
  "See that whoever runs this may read and write the file and its folder: give both to that user with chown.";

const todos: ReadonlyMap<number, string> = new Map([
  [sqliteKinds.busy, "Another program is at work on the file: leave it, and try again when that has ended."],
  // Not to be opened, or not to be written, is most often another's file: a command was run as root, the service is not.
  [sqliteKinds.readOnly, ownerTodo],
  [sqliteKinds.unopened, ownerTodo],
  [sqliteKinds.failing, diskTodo],
  [sqliteKinds.full, diskTodo],
]);

/** An error as people are told it, when the disk of a folder takes no more of what is being made there. */
export function asDiskTrouble(error: unknown, folder: string): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  const why = isFullDisk(error) ? full : diskReasons[code];
  return why === undefined ? error : new Error(`the folder ${folder} cannot be written: ${why}`, { cause: error });
}

const full = "its disk is full; make room there, or name another place";

const diskReasons: Readonly<Record<string, string>> = {
  ENOSPC: full,
  EDQUOT: "this user may not have more of its disk; make room there, or name another place",
  EROFS: "its disk is read-only; name another place",
};

/** As SQLite says it. */
export const isFullDisk = (error: unknown): boolean => sqliteKind(error) === sqliteKinds.full;
