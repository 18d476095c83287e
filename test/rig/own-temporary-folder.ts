import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * All tests of one run, and the processes they start, keep their temporary files in one folder. It is removed when
 * the run ends.
 */
export default async function ownTemporaryFolder(): Promise<() => Promise<void>> {
  const inMemory = process.env.TMPDIR === undefined ? await makeIn("/dev/shm") : undefined;
  const folder = inMemory ?? (await mkdtemp(join(tmpdir(), prefix)));
  // PostgreSQL and other servers run as other users.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  // As in `bin/moor`: use the compile cache.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  process.env.MOOR_POSTGRES_TEMPLATE = join(folder, "postgres-template");
  // A process may still be writing there, or have removed permissions; that is not a failure of the tests.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

const prefix = "moor-tests-";

/** Bytes: many times what a run needs, because the memory is wanted for other things too. */
const room = 4 * 1024 ** 3;

/**
 * Every commit of SQLite waits until the disk has it: milliseconds, thousands of times. A file system in memory loses
 * no more when a process is killed. Containers often have only a small one, or one in which no program may be started:
 * then undefined.
 */
async function makeIn(parent: string): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(parent);
    if (bavail * bsize < room) return undefined;
    const folder = await mkdtemp(join(parent, prefix));
    const script = join(folder, "may-start");
    try {
      await writeFile(script, "#!/bin/sh\n", { mode: 0o755 });
      await promisify(execFile)(script);
      return folder;
    } catch {
      await rm(folder, { recursive: true, force: true });
      return undefined;
    }
  } catch {
    return undefined;
  }
}
