import type { DatabaseSync } from "node:sqlite";
import type { LoggedRow } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";

/**
 * Notices commits of other connections, which make rows cached in memory outdated. It checks once per turn of the
 * event loop, so there is no query per request, and changes made elsewhere are seen in the next turn.
 */
export function watchOtherCommits(database: DatabaseSync) {
  // https://sqlite.org/pragma.html#pragma_data_version: changes with commits of other connections, not with our own.
  const version = database.prepare("PRAGMA data_version");
  version.setReturnArrays(true);
  const versionNow = () => (version.get() as unknown as readonly [number])[0];
  const forgetters: (() => void)[] = [];
  let lastVersion = versionNow();
  let isChecked = false;
  const checkNextTime = () => {
    isChecked = false;
  };

  const compareVersions = () => {
    const now = versionNow();
    if (now !== lastVersion) for (const forget of forgetters) forget();
    lastVersion = now;
  };

  return {
    onCommit: (forget: () => void): void => {
      forgetters.push(forget);
    },
    /** Call before using anything cached. */
    check: (): void => {
      if (isChecked) return;
      isChecked = true;
      setImmediate(checkNextTime);
      compareVersions();
    },
    /**
     * Call under the write lock, when no other connection can commit, or after a commit that must be seen in this turn.
     */
    checkNow: compareVersions,
  };
}

export type OtherCommits = ReturnType<typeof watchOtherCommits>;

export type FeedOptions = {
  readonly otherCommits: OtherCommits;
  readonly lastChange: () => number;
  /** Whether one of our own writes is not on disk yet. */
  readonly isWriting: () => boolean;
};

/**
 * SQLite does not notify us of writes by other processes, such as `moor record --data`, so we poll; a poll takes a
 * microsecond.
 */
const pollEvery = 250;

/**
 * Notifies listeners that the change log has grown: with the rows for our own writes, by polling for those of others.
 */
export function createSqliteFeed({ otherCommits, lastChange, isWriting }: FeedOptions) {
  const feed = createChangeFeed();
  let announced = lastChange();
  let hasOtherCommit = false;
  otherCommits.onCommit(() => {
    hasOtherCommit = true;
  });

  const poll = (): void => {
    otherCommits.check();
    // Our own writes are announced once they are on disk, not before.
    if (!hasOtherCommit || isWriting()) return;
    const last = lastChange();
    hasOtherCommit = false;
    if (last <= announced) return;
    announced = last;
    feed.announce();
  };
  const timer = setInterval(() => {
    try {
      poll();
    } catch {
      // Requests report a disk that cannot be read; the next poll tries again.
    }
  }, pollEvery).unref();

  return {
    listen: feed.listen,
    /** Call after one of our own commits. */
    announce: (rows: readonly LoggedRow[]): void => {
      announced = rows.at(-1)?.position ?? announced;
      feed.announce(rows);
    },
    close: (): void => clearInterval(timer),
  };
}
