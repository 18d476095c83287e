import type { DatabaseSync } from "node:sqlite";

/**
 * Says that another connection has committed, so that what is kept in memory of the database no longer holds. It is looked
 * for once in a turn of the event loop: what was changed elsewhere is seen with the next turn, without a query a request.
 */
export function watchForeignCommits(database: DatabaseSync) {
  // https://sqlite.org/pragma.html#pragma_data_version: moves with commits of other connections, not with our own.
  const version = database.prepare("PRAGMA data_version");
  version.setReturnArrays(true);
  const versionNow = () => (version.get() as unknown as readonly [number])[0];
  const forgetters: (() => void)[] = [];
  let seen = versionNow();
  let looked = false;
  const lookNextTurn = () => {
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
    /** Before anything kept is used. */
    check: (): void => {
      if (looked) return;
      looked = true;
      setImmediate(lookNextTurn);
      look();
    },
    /** Under the write lock, where nobody else can commit any more. */
    checkLocked: look,
  };
}

export type ForeignCommits = ReturnType<typeof watchForeignCommits>;
