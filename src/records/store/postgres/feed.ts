import { schemaChannel } from "../../../lib/postgres/migrate.ts";
import type { Postgres } from "../../../lib/postgres/open.ts";
import { listenTo } from "../../../lib/postgres/session.ts";
import type { Logger } from "../../../process/log.ts";
import type { LoggedRow, LogPlace } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";
import type { AddedPlaces } from "../port.ts";
import { changesChannel } from "./batch-write.ts";
import { guessesChannel } from "./guesses.ts";
import { samePlace } from "./log.ts";

/** The channel that notifies every node of access changes: tokens, transfer keys, console sessions. */
export const tokensChannel = "moor_tokens";

export type FeedOptions = {
  readonly postgres: Pick<Postgres, "connect">;
  readonly log: Logger;
  /** The end of the log when the feed starts. */
  readonly start: LogPlace;
  readonly logEnd: () => Promise<LogPlace>;
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
  const { postgres, log, start, logEnd, tokensChanged, schemaChanged, guessed } = options;
  const feed = createChangeFeed();
  let announced = start;
  let closed = false;

  const announce = (end: LogPlace, rows?: readonly LoggedRow[], places?: AddedPlaces): void => {
    if (closed) return;
    announced = end;
    feed.announce(rows, places);
  };
  // If the log cannot be read now, the next poll tries again; an outage is logged elsewhere.
  const lookAtEnd = (): void =>
    void logEnd().then(
      // It may also be shorter: then the database has lost changes.
      (end) => samePlace(end, announced) || announce(end),
      () => undefined,
    );
  const noticed = (end: LogPlace): void => {
    // Our own writes arrive twice, as an answer and as a notification. Notifications may also arrive late.
    if (end.position < announced.position || samePlace(end, announced)) return;
    if (end.position === announced.position) lookAtEnd();
    else announce(end);
  };
  const look = (): void => {
    tokensChanged();
    schemaChanged();
    lookAtEnd();
  };
  const listening = listenTo({
    connect: postgres.connect,
    channels: [changesChannel, tokensChannel, schemaChannel, guessesChannel],
    onNotice: (channel, payload) => {
      if (channel === tokensChannel) tokensChanged();
      else if (channel === schemaChannel) schemaChanged();
      else if (channel === guessesChannel) guessed(payload);
      // The answer to one of our own commits may arrive in the same turn, with the rows.
      else setImmediate(noticed, placeIn(payload));
    },
    onGap: look,
    log,
  });
  const timer = setInterval(look, lookEvery).unref();

  return {
    listen: feed.listen,
    /** Notifications arrive, so caches that depend on them can be trusted. */
    isUp: listening.isUp,
    /** Call after one of our own commits; without rows if their positions are unknown. */
    committed: (rows?: readonly LoggedRow[], places?: AddedPlaces): void => {
      if (places === undefined) look();
      else if (places.end.position > announced.position) announce(places.end, rows, places);
      else if (!samePlace(places.end, announced)) lookAtEnd();
    },
    close: async (): Promise<void> => {
      closed = true;
      clearInterval(timer);
      await listening.close();
    },
  };
}

function placeIn(payload: string): LogPlace {
  const [position, link = ""] = payload.split(" ");
  return { position: Number(position), link };
}
