import type { Logger } from "../../../process/log.ts";
import { listenTo } from "../../../process/postgres/listen.ts";
import { schemaChannel } from "../../../process/postgres/migrate.ts";
import type { Postgres } from "../../../process/postgres/open.ts";
import type { LoggedChange } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";
import { changesChannel } from "./batch-write.ts";
import { guessesChannel } from "./guesses.ts";

/** The channel on which every node hears that access was given or taken: tokens, transfer keys, console sessions. */
export const tokensChannel = "moor_tokens";

export type FeedOptions = {
  readonly postgres: Pick<Postgres, "connect">;
  readonly log: Logger;
  /** The last position that is known when the feed begins. */
  readonly position: number;
  readonly lastChange: () => Promise<number>;
  /** What is remembered of tokens may be wrong, and what was opened with one has to be checked again. */
  readonly tokensChanged: () => void;
  /** The schema may be another. */
  readonly schemaChanged: () => void;
  /** Somebody guessed a password wrongly, at this node or another. */
  readonly guessed: (notice: string) => void;
};

/** A notice that never came is made up for within this time. */
const lookEvery = 2_000;

/** Tells listeners that the change log has grown, whichever node has written: by notice, and by looking now and then. */
export function createPostgresFeed(options: FeedOptions) {
  const { postgres, log, position, lastChange, tokensChanged, schemaChanged, guessed } = options;
  const feed = createChangeFeed();
  let announced = position;
  let closed = false;

  const heard = (last: number, rows?: readonly LoggedChange[]): void => {
    // Our own writes come twice, as an answer and as a notice.
    if (last <= announced || closed) return;
    announced = last;
    feed.announce(rows);
  };
  const look = (): void => {
    tokensChanged();
    schemaChanged();
    // What cannot be read now is looked at again soon; that the database is away is said elsewhere.
    lastChange().then(heard, () => undefined);
  };
  const listening = listenTo({
    connect: postgres.connect,
    channels: [changesChannel, tokensChannel, schemaChannel, guessesChannel],
    onNotice: (channel, payload) => {
      if (channel === tokensChannel) tokensChanged();
      else if (channel === schemaChannel) schemaChanged();
      else if (channel === guessesChannel) guessed(payload);
      // The answer to a commit of our own may be in the same turn, and brings the rows with it.
      else setImmediate(heard, Number(payload));
    },
    onGap: look,
    log,
  });
  const timer = setInterval(look, lookEvery).unref();

  return {
    listen: feed.listen,
    /** Notices come in: what is remembered on the strength of them can be trusted. */
    isUp: listening.isUp,
    /** After a commit of our own; undefined when it is not known where its rows stand. */
    committed: (rows: readonly LoggedChange[] | undefined): void => {
      const last = rows?.at(-1);
      if (last === undefined) look();
      else heard(last.position, rows);
    },
    close: async (): Promise<void> => {
      closed = true;
      clearInterval(timer);
      await listening.close();
    },
  };
}
