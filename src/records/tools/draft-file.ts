import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseTrouble } from "../../process/database/migration-steps.ts";
import { asDiskTrouble } from "../../process/sqlite/faults.ts";
import { isInUse, takeSole } from "./tables/sole.ts";

/**
 * A place for a file that shall become `path` when it is whole, on the same disk. It is gone when `make` has ended; what a
 * process that was killed has left in that folder goes with the next draft there, as the lock of the process went with it.
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
    if (sole === "in-use") throw new DatabaseTrouble(`another command is at work in ${parent}; run this one again.`);
    try {
      // Where others look for dead ones it is never without its lock.
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

/** One without a lock is somebody else's. */
async function removeDead(parent: string): Promise<void> {
  // Who may write to a folder may perhaps not list it, and can do without this.
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => /^\..+\.draft-[0-9a-f]{8}$/.test(each))) {
    const folder = join(parent, name);
    try {
      if (existsSync(lockIn(folder)) && !isInUse(lockIn(folder))) await rm(folder, { recursive: true, force: true });
    } catch {
      // Another command is at the same, or its owner has just come to the end.
    }
  }
}
