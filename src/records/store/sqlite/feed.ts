import type { LoggedRow } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";
import type { ForeignCommits } from "./foreign-commits.ts";

export type FeedOptions = {
  readonly foreign: ForeignCommits;
  readonly lastChange: () => number;
  /** Whether one of our own writes is not on disk yet. */
  readonly isWriting: () => boolean;
};

/**
 * SQLite does not notify us of writes by other processes, such as `moor import`, so we poll; a poll takes a
 * microsecond.
 */
const lookEvery = 250;

/**
 * Notifies listeners that the change log has grown: with the rows for our own writes, by polling for those of others.
 */
export function createSqliteFeed({ foreign, lastChange, isWriting }: FeedOptions) {
  const feed = createChangeFeed();
  let announced = lastChange();
  let moved = false;
  foreign.onCommit(() => {
    moved = true;
  });

  const look = (): void => {
    foreign.check();
    // Our own writes are announced once they are on disk, not before.
    if (!moved || isWriting()) return;
    const last = lastChange();
    moved = false;
    if (last <= announced) return;
    announced = last;
    feed.announce();
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // Requests report a disk that cannot be read; the next poll tries again.
    }
  }, lookEvery).unref();

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
