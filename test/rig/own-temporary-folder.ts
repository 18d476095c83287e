import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * All tests of one run, and the processes they start, keep their temporary files in one folder. It is removed when
 * the run ends.
 */
export default async function ownTemporaryFolder(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "moor-tests-"));
  // PostgreSQL and other servers run as other users.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  // As in `bin/moor`: use the compile cache.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  process.env.MOOR_POSTGRES_TEMPLATE = join(folder, "postgres-template");
  // A process may still be writing there, or have removed permissions; that is not a failure of the tests.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}
