import type { Logger } from "../../../process/log.ts";
import { listenTo } from "../../../process/postgres/listen.ts";
import { schemaChannel } from "../../../process/postgres/migrate.ts";
import type { Postgres } from "../../../process/postgres/open.ts";
import type { LoggedRow } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";
import { changesChannel } from "./batch-write.ts";
import { guessesChannel } from "./guesses.ts";

/** The channel that notifies every node of access changes: tokens, transfer keys, console sessions. */
export const tokensChannel = "moor_tokens";

export type FeedOptions = {
  readonly postgres: Pick<Postgres, "connect">;
  readonly log: Logger;
  /** The last position when the feed starts. */
  readonly position: number;
  readonly lastChange: () => Promise<number>;
  /** Cached tokens may be outdated, and open connections must be checked again. */
  readonly tokensChanged: () => void;
  /** The schema may have changed. */
  readonly schemaChanged: () => void;
  /** A wrong password was entered, at this node or another. */
  readonly guessed: (notice: string) => void;
};

/** A lost notification is made up for within this time. */
const lookEvery = 2_000;

/** Notifies listeners that the change log has grown, no matter which node wrote: by notification, and by regular polling. */
export function createPostgresFeed(options: FeedOptions) {
  const { postgres, log, position, lastChange, tokensChanged, schemaChanged, guessed } = options;
  const feed = createChangeFeed();
  let announced = position;
  let closed = false;

  const heard = (last: number, rows?: readonly LoggedRow[]): void => {
    // Our own writes arrive twice, as an answer and as a notification.
    if (last <= announced || closed) return;
    announced = last;
    feed.announce(rows);
  };
  const look = (): void => {
    tokensChanged();
    schemaChanged();
    // If the log cannot be read now, the next poll tries again; an outage is logged elsewhere.
    lastChange().then(heard, () => undefined);
  };
  const listening = listenTo({
    connect: postgres.connect,
    channels: [changesChannel, tokensChannel, schemaChannel, guessesChannel],
    onNotice: (channel, payload) => {
      if (channel === tokensChannel) tokensChanged();
      else if (channel === schemaChannel) schemaChanged();
      else if (channel === guessesChannel) guessed(payload);
      // The answer to one of our own commits may arrive in the same turn, with the rows.
      else setImmediate(heard, Number(payload));
    },
    onGap: look,
    log,
  });
  const timer = setInterval(look, lookEvery).unref();

  return {
    listen: feed.listen,
    /** Notifications arrive, so caches that depend on them can be trusted. */
    isUp: listening.isUp,
    /** Call after one of our own commits; undefined if the positions of its rows are unknown. */
    committed: (rows: readonly LoggedRow[] | undefined): void => {
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
