import { existsSync, readFileSync, statSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";

/** Where something is kept whose place is taken by another. */
export const asideOf = (path: string, now: Date): string =>
  `${path}.before-restore-${now.toISOString().replaceAll(/[:.]/g, "-")}`;

/**
 * Takes away what SQLite keeps beside a database that is not at `path` any more: it would take it for that of the next one
 * there, and undo or damage that. A log with something in it is kept beside `aside`; where, if so.
 */
export async function takeLogAway(path: string, aside: string): Promise<string | undefined> {
  const log = await stat(`${path}-wal`).catch(() => undefined);
  const kept = log !== undefined && log.size > 0 ? `${aside}-wal` : undefined;
  if (kept !== undefined) await rename(`${path}-wal`, kept);
  for (const end of ["-wal", "-shm", "-journal"]) await rm(`${path}${end}`, { force: true });
  return kept;
}

/**
 * Whether a process works on the database of `path`, also when that file was moved away under it. Only the system knows the
 * lock that SQLite then still holds on the file beside it, and only Linux tells.
 */
export function isLogInUse(path: string): boolean {
  const shared = statSync(`${path}-shm`, { throwIfNoEntry: false, bigint: true });
  if (shared === undefined || !existsSync(locks)) return false;
  return readFileSync(locks, "utf8")
    .split("\n")
    .some((line) => {
      const [, device = "", file, first, last] = /([0-9a-f]+:[0-9a-f]+):(\d+) (\d+) (\d+|EOF)$/.exec(line) ?? [];
      const isOfFile = file === String(shared.ino) && isOnDevice(device, shared.dev);
      return isOfFile && Number(first) <= heldByAll && (last === "EOF" || heldByAll <= Number(last));
    });
}

/** Numbers of files repeat from disk to disk. Those of disks without a driver of their own are told in two ways. */
function isOnDevice(told: string, device: bigint): boolean {
  const major = (device >> 8n) & 0xfffn;
  const minor = (device & 0xffn) | ((device >> 12n) & 0xfff00n);
  const [toldMajor, toldMinor] = told.split(":").map((part) => BigInt(`0x${part}`));
  return major === 0n || (toldMajor === major && toldMinor === minor);
}

const locks = "/proc/locks";

/** The byte of the shared file that every connection holds (UNIX_SHM_DMS in SQLite's os_unix.c). */
const heldByAll = 128;
