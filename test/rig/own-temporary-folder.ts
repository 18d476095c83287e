import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All tests of one run, and what they start, keep their temporary files in a folder that goes when the run ends. */
export default async function ownTemporaryFolder(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "moor-tests-"));
  // PostgreSQL and other servers under test run as users of their own.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  // As `bin/moor` does it: a program that has been started before is not compiled again.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  process.env.MOOR_POSTGRES_TEMPLATE = join(folder, "postgres-template");
  // Something may still be writing there, or have taken away a right: that is no fault of what was tested.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}
