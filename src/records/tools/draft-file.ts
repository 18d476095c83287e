import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asDiskTrouble } from "../../lib/sqlite/faults.ts";
import { DatabaseTrouble } from "../../lib/sqlite/migration-steps.ts";
import { isInUse, takeSole } from "../../lib/sqlite/sole.ts";

/**
 * A temporary place, on the same disk, for a file that will become `path` when it is complete. It is removed when
 * `make` ends. If the process was killed, the next draft in that folder removes it: the lock ended with the process.
 */
export async function withDraft<T>(path: string, make: (draft: string) => Promise<T>): Promise<T> {
  try {
    return await draftOf(path, make);
  } catch (error) {
    throw asDiskTrouble(error, dirname(path));
  }
}

async function draftOf<T>(path: string, make: (draft: string) => Promise<T>): Promise<T> {
  const parent = dirname(path);
  await removeDead(parent);
  const folder = join(parent, `.${basename(path)}.draft-${randomBytes(4).toString("hex")}`);
  const begun = `${folder}-begun`;
  await mkdir(begun, { mode: 0o700 });
  try {
    const sole = takeSole(lockIn(begun));
    if (sole === "in-use") throw new DatabaseTrouble(`another command is working in ${parent}; run this one again.`);
    try {
      // Under the name that `removeDead` looks for, a folder always has its lock.
      await rename(begun, folder);
      return await make(join(folder, "draft"));
    } finally {
      await rename(folder, begun).catch(() => undefined);
      sole.close();
    }
  } finally {
    for (const each of [begun, folder]) await rm(each, { recursive: true, force: true });
  }
}

const lockIn = (folder: string): string => join(folder, "lock");

/** A folder without a lock file is not one of ours. */
async function removeDead(parent: string): Promise<void> {
  // Some users can write to a folder but not list it; the cleanup is optional.
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => /^\..+\.draft-[0-9a-f]{8}$/.test(each))) {
    const folder = join(parent, name);
    try {
      if (existsSync(lockIn(folder)) && !isInUse(lockIn(folder))) await rm(folder, { recursive: true, force: true });
    } catch {
      // Another command is removing it too, or its owner has just finished.
    }
  }
}
