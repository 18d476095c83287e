import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { Logger } from "../../process/log.ts";
import { refusalOf } from "./faults.ts";

export type SessionOptions = {
  /** Returns a connected client; called again for every new session. */
  readonly connect: () => Promise<Client>;
  /** Sets up a new session. If it throws, the session is closed and another one is tried. */
  readonly begin: (client: Client, signal: AbortSignal) => Promise<void>;
  /** Checks that the server answers; `SELECT 1` by default. */
  readonly ask?: (client: Client) => Promise<unknown>;
  /** The session is set up. */
  readonly ready?: () => void;
  /** The session that was ready is lost, or does not answer. */
  readonly lost?: () => void;
  readonly log: Logger;
  /** What the session is for, in log lines. */
  readonly what: string;
  readonly timing?: Partial<SessionTiming>;
  readonly random?: (() => number) | undefined;
};

/** Milliseconds. */
export type SessionTiming = {
  /** Between two checks that the server answers. */
  readonly probe: number;
  /** For connecting, for `begin`, and for each check. */
  readonly patience: number;
  /** The longest pause between two tries to connect. */
  readonly slowest: number;
};

/** A server that has vanished is noticed within 1 + 2 seconds. */
const usual: SessionTiming = { probe: 1_000, patience: 2_000, slowest: 500 };
const firstPause = 50;

/**
 * Keeps a session open that has a state, such as a LISTEN or a lock. If it is lost, a new one is opened and set up;
 * `lost` and `ready` notify the caller.
 */
export function keepSession(options: SessionOptions) {
  const { log, what, random = Math.random, ask = (client) => client.query("SELECT 1") } = options;
  const timing = { ...usual, ...options.timing };
  const closing = new AbortController();
  let up = false;
  let failures = 0;

  const live = async (client: Client): Promise<void> => {
    const over = new AbortController();
    client.on("error", (error) => over.abort(error));
    client.on("end", () => over.abort(new Error("the database closed the connection")));
    const signal = AbortSignal.any([over.signal, closing.signal]);
    try {
      await within(options.begin(client, signal), timing.patience, signal);
      up = true;
      options.ready?.();
      for (;;) {
        await within(ask(client), timing.patience, signal);
        await sleep(timing.probe, undefined, { signal, ref: false });
        failures = 0;
      }
    } catch (error) {
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      if (up) options.lost?.();
      up = false;
      await endClient(client);
    }
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await openClient(options.connect, timing.patience, closing.signal)
        .then(live)
        .catch((error: unknown) => {
          if (closing.signal.aborted) return;
          const because = refusalOf(error);
          const why = because === undefined ? { err: error } : { because };
          if (failures === 0) log.warn({ ...why, what }, "the connection to the database was lost; trying again");
          failures += 1;
        });
      if (closing.signal.aborted) return;
      const pause = Math.max(firstPause, backOffDelay(failures, random(), { base: firstPause, cap: timing.slowest }));
      await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    isUp: (): boolean => up,
    close: async (): Promise<void> => {
      closing.abort(new Error("closing"));
      await running;
    },
  };
}

/** A client that connects too late is closed immediately. */
async function openClient(connect: () => Promise<Client>, limit: number, signal: AbortSignal): Promise<Client> {
  const opening = connect();
  try {
    return await within(opening, limit, signal);
  } catch (error) {
    opening.then(endClient).catch(() => undefined);
    throw error;
  }
}

/** A server that has vanished does not close its side, and errors no longer matter. */
export async function endClient(client: Client): Promise<void> {
  client.on("error", () => undefined);
  await within(client.end(), 500, undefined).catch(() => client.connection.stream.destroy());
}

function within<T>(work: Promise<T>, limit: number, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    const stop = () => {
      done();
      reject(signal?.reason ?? new Error(`the database did not answer within ${limit} ms`));
    };
    const timer = setTimeout(stop, limit);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop);
    work.then(resolve, reject).finally(done);
  });
}

export type ListenOptions = {
  /** Returns a connected client; called again whenever the connection is lost. */
  readonly connect: () => Promise<Client>;
  readonly channels: readonly string[];
  readonly onNotice: (channel: string, payload: string) => void;
  /**
   * Listening has begun, for the first time or again. Earlier notifications are lost, so everything must be checked.
   * From here on, none is missed until the next call.
   */
  readonly onGap: () => void;
  readonly log: Logger;
  readonly timing?: Partial<SessionTiming>;
  readonly random?: (() => number) | undefined;
};

export type NotificationListener = {
  /** False while notifications may be missed: caches that depend on them must not be trusted then. */
  readonly isUp: () => boolean;
  readonly close: () => Promise<void>;
};

/** `LISTEN` on a separate connection, as long as the program runs. A lost connection is noticed within 3 seconds. */
export function listenTo({ channels, onNotice, onGap, ...session }: ListenOptions): NotificationListener {
  const begin = async (client: Client): Promise<void> => {
    client.on("notification", ({ channel, payload }) => onNotice(channel, payload ?? ""));
    await client.query(channels.map((channel) => `LISTEN ${client.escapeIdentifier(channel)}`).join("; "));
  };
  return keepSession({ ...session, begin, ready: onGap, what: "notices" });
}
