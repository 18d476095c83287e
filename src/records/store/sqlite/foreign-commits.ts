import type { DatabaseSync } from "node:sqlite";

/**
 * Notices commits of other connections, which make rows cached in memory outdated. It checks once per turn of the
 * event loop, so there is no query per request, and changes made elsewhere are seen in the next turn.
 */
export function watchForeignCommits(database: DatabaseSync) {
  // https://sqlite.org/pragma.html#pragma_data_version: changes with commits of other connections, not with our own.
  const version = database.prepare("PRAGMA data_version");
  version.setReturnArrays(true);
  const versionNow = () => (version.get() as unknown as readonly [number])[0];
  const forgetters: (() => void)[] = [];
  let seen = versionNow();
  let looked = false;
  const checkNextTime = () => {
    looked = false;
  };

  const look = () => {
    const now = versionNow();
    if (now !== seen) for (const forget of forgetters) forget();
    seen = now;
  };

  return {
    onCommit: (forget: () => void): void => {
      forgetters.push(forget);
    },
    /** Call before using anything cached. */
    check: (): void => {
      if (looked) return;
      looked = true;
      setImmediate(checkNextTime);
      look();
    },
    /**
     * Call under the write lock, when no other connection can commit, or after a commit that must be seen in this turn.
     */
    checkNow: look,
  };
}

export type ForeignCommits = ReturnType<typeof watchForeignCommits>;
