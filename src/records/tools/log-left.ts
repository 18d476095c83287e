import { existsSync, readFileSync, statSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";

/** The name under which a replaced file is kept. */
export const asideOf = (path: string, now: Date): string =>
  `${path}.before-restore-${now.toISOString().replaceAll(/[:.]/g, "-")}`;

/**
 * Removes the files that SQLite left beside a database that is no longer at `path`. SQLite would apply them to the
 * next database there, and undo its changes or damage it. A log that is not empty is kept beside `aside`; returns its
 * path.
 */
export async function takeLogAway(path: string, aside: string): Promise<string | undefined> {
  const log = await stat(`${path}-wal`).catch(() => undefined);
  const kept = log !== undefined && log.size > 0 ? `${aside}-wal` : undefined;
  if (kept !== undefined) await rename(`${path}-wal`, kept);
  for (const end of ["-wal", "-shm", "-journal"]) await rm(`${path}${end}`, { force: true });
  return kept;
}

/**
 * Whether a process has the database of `path` open, even if the file was moved away meanwhile. SQLite then still
 * holds a lock on the `-shm` file, which only the kernel knows of; only Linux lists it.
 */
export function isLogInUse(path: string): boolean {
  const shared = statSync(`${path}-shm`, { throwIfNoEntry: false, bigint: true });
  if (shared === undefined || !existsSync(locks)) return false;
  return readFileSync(locks, "utf8")
    .split("\n")
    .some((line) => {
      const [, device = "", file, first, last] = /([0-9a-f]+:[0-9a-f]+):(\d+) (\d+) (\d+|EOF)$/.exec(line) ?? [];
      const isOfFile = file === String(shared.ino) && isOnDevice(device, shared.dev);
      return isOfFile && Number(first) <= heldByEveryone && (last === "EOF" || heldByEveryone <= Number(last));
    });
}

/**
 * Inode numbers are unique per device only. Devices with major number 0 are reported in two ways, so they match any.
 */
function isOnDevice(listed: string, device: bigint): boolean {
  const major = (device >> 8n) & 0xfffn;
  const minor = (device & 0xffn) | ((device >> 12n) & 0xfff00n);
  const [listedMajor, listedMinor] = listed.split(":").map((part) => BigInt(`0x${part}`));
  return major === 0n || (listedMajor === major && listedMinor === minor);
}

const locks = "/proc/locks";

/** The byte of the `-shm` file that every connection locks (UNIX_SHM_DMS in SQLite's os_unix.c). */
const heldByEveryone = 128;
