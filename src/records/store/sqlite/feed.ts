import type { LoggedChange } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";
import type { ForeignCommits } from "./foreign-commits.ts";

export type FeedOptions = {
  readonly foreign: ForeignCommits;
  readonly lastChange: () => number;
  /** Something of our own is not on disk yet. */
  readonly isWriting: () => boolean;
};

/** Nobody tells what another process has written, `moor import` for one: it is looked for, which takes a microsecond. */
const lookEvery = 250;

/** Tells listeners that the change log has grown: what was written here with its rows, what was written elsewhere by looking. */
export function createSqliteFeed({ foreign, lastChange, isWriting }: FeedOptions) {
  const feed = createChangeFeed();
  let told = lastChange();
  let moved = false;
  foreign.onCommit(() => {
    moved = true;
  });

  const look = (): void => {
    foreign.check();
    // What is being written here is told when it is on disk, and not before.
    if (!moved || isWriting()) return;
    const last = lastChange();
    moved = false;
    if (last <= told) return;
    told = last;
    feed.announce();
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // A disk that cannot be read is told by whoever needs it; here it is looked at again soon.
    }
  }, lookEvery).unref();

  return {
    listen: feed.listen,
    /** After a commit of our own. */
    announce: (rows: readonly LoggedChange[]): void => {
      told = rows.at(-1)?.position ?? told;
      feed.announce(rows);
    },
    close: (): void => clearInterval(timer),
  };
}
