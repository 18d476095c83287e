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

export type PostgresFeedOptions = {
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
const readEvery = 2_000;

/**
 * Notifies listeners that the change log has grown, no matter which node wrote: by notification, and by regular
 * polling.
 */
export class PostgresFeed {
  readonly #options: PostgresFeedOptions;
  readonly #feed = createChangeFeed();
  readonly #listening: ReturnType<typeof listenTo>;
  readonly #timer: NodeJS.Timeout;
  #announced: LogPlace;
  #closed = false;

  constructor(options: PostgresFeedOptions) {
    this.#options = options;
    this.#announced = options.start;
    this.#listening = listenTo({
      connect: options.postgres.connect,
      channels: [changesChannel, tokensChannel, schemaChannel, guessesChannel],
      onNotice: (channel, payload) => this.#noticed(channel, payload),
      onGap: () => this.#readNew(),
      log: options.log,
    });
    this.#timer = setInterval(() => this.#readNew(), readEvery).unref();
  }

  readonly listen = this.#feed.listen;

  /** Notifications arrive, so caches that depend on them can be trusted. */
  readonly isUp = (): boolean => this.#listening.isUp();

  /** Call after one of our own commits; without rows if their positions are unknown. */
  readonly committed = (rows?: readonly LoggedRow[], places?: AddedPlaces): void => {
    if (places === undefined) this.#readNew();
    else if (places.end.position > this.#announced.position) this.#announce(places.end, rows, places);
    else if (!samePlace(places.end, this.#announced)) this.readEnd();
  };

  readonly close = async (): Promise<void> => {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#listening.close();
  };

  #noticed(channel: string, payload: string): void {
    const { tokensChanged, schemaChanged, guessed } = this.#options;
    if (channel === tokensChannel) tokensChanged();
    else if (channel === schemaChannel) schemaChanged();
    else if (channel === guessesChannel) guessed(payload);
    // The answer to one of our own commits may arrive in the same turn, with the rows.
    else setImmediate(() => this.#noticedEnd(placeIn(payload)));
  }

  #noticedEnd(end: LogPlace): void {
    // Our own writes arrive twice, as an answer and as a notification. Notifications may also arrive late.
    if (end.position < this.#announced.position || samePlace(end, this.#announced)) return;
    if (end.position === this.#announced.position) this.readEnd();
    else this.#announce(end);
  }

  #readNew(): void {
    this.#options.tokensChanged();
    this.#options.schemaChanged();
    this.readEnd();
  }

  // If the log cannot be read now, the next poll tries again; an outage is logged elsewhere.
  readEnd(): void {
    void this.#options.logEnd().then(
      // It may also be shorter: then the database has lost changes.
      (end) => samePlace(end, this.#announced) || this.#announce(end),
      () => undefined,
    );
  }

  #announce(end: LogPlace, rows?: readonly LoggedRow[], places?: AddedPlaces): void {
    if (this.#closed) return;
    this.#announced = end;
    this.#feed.announce(rows, places);
  }
}

function placeIn(payload: string): LogPlace {
  const [position, link = ""] = payload.split(" ");
  return { position: Number(position), link };
}
