import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { Logger } from "../log.ts";
import { refusalOf } from "./refusals.ts";

export type SessionOptions = {
  /** Gives a client that is connected; called again for every new session. */
  readonly connect: () => Promise<Client>;
  /** Sets a new session up. When it throws, the session is given up and the next one tried. */
  readonly begin: (client: Client, signal: AbortSignal) => Promise<void>;
  /** How the server is asked whether it is there, unless a plain question will do. */
  readonly ask?: (client: Client) => Promise<unknown>;
  /** It is set up. */
  readonly ready?: () => void;
  /** The session that was ready is lost, or does not answer. */
  readonly lost?: () => void;
  readonly log: Logger;
  /** What the session is for, in log lines. */
  readonly what: string;
  readonly timing?: Partial<SessionTiming>;
  readonly random?: () => number;
};

/** Milliseconds. */
export type SessionTiming = {
  /** Between two looks whether the server is there. */
  readonly probe: number;
  /** In which it must answer one, and any statement of `begin`. */
  readonly patience: number;
  /** The longest pause between two tries to connect. */
  readonly slowest: number;
};

export type KeptSession = {
  readonly isUp: () => boolean;
  readonly close: () => Promise<void>;
};

/** A server that is gone without a word is noticed after 1 + 2 seconds. */
const usual: SessionTiming = { probe: 1_000, patience: 2_000, slowest: 500 };
const firstPause = 50;

/**
 * One session that is more than a place to run statements: it listens, or it holds a lock. It is kept for as long as it lives
 * and reopened when it does not; callers are notified when it ends.
 */
export function keepSession(options: SessionOptions): KeptSession {
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
    isUp: () => up,
    close: async () => {
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

/** A peer that is gone never answers the farewell, and what it says in parting is of no use. */
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
