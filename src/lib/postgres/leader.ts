import type { Client } from "pg";
import { createDuties, type Duties } from "../../process/duties.ts";
import type { Logger } from "../../process/log.ts";
import { keepSession } from "./session.ts";

export type LeaderOptions = {
  /** Returns a connected client that is used for nothing else. */
  readonly connect: () => Promise<Client>;
  readonly log: Logger;
  readonly random?: () => number;
};

/** Advisory locks are numbers: "moor", and which of its locks. */
const lock = "1836019570, 1";

/**
 * A node leads for `lease` after it sent a query that was answered. The server frees the lock of a node that has sent
 * nothing for `deserted`: longer than `lease`, so that two nodes never lead at the same time, and short enough for
 * another to lead within 5 seconds.
 */
const timing = { probe: 1_000, patience: 1_500, slowest: 1_000 };
const lease = timing.probe + timing.patience;
const deserted = 3_000;

/**
 * One node at a time leads: the one whose session holds the lock. A node that is killed loses it with its connection;
 * one whose network fails loses it by a timeout. Needs its own session at the server, so no transaction-mode pooler.
 */
export function electLeader({ connect, log, random }: LeaderOptions): Duties {
  const duties = createDuties(log);
  let end: NodeJS.Timeout | undefined;

  const stepDown = (): void => {
    clearTimeout(end);
    if (!duties.isLeading()) return;
    log.warn("this node no longer leads");
    duties.stepDown();
  };
  /** `over` is counted from the query: it is not known how long the answer took, or how late it was read. */
  const leadUntil = (over: number): void => {
    clearTimeout(end);
    const left = over - performance.now();
    if (left <= 0) stepDown();
    else end = setTimeout(stepDown, left).unref();
    if (left <= 0 || duties.isLeading()) return;
    log.info("this node leads: it does the work that only one node may do");
    duties.lead();
  };
  const tryToLead = async (client: Client): Promise<void> => {
    const over = performance.now() + lease;
    if (duties.isLeading()) {
      await client.query("SELECT 1");
      if (duties.isLeading() && session.isUp()) leadUntil(over);
      return;
    }
    // A session that already holds the lock gets it again.
    const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${lock}) AS taken`);
    if (rows[0]?.taken && session.isUp()) leadUntil(over);
  };
  const session = keepSession({
    connect,
    begin: async (client) => {
      await client.query(`SET idle_session_timeout = ${deserted}; SET tcp_user_timeout = ${deserted}`);
    },
    ask: tryToLead,
    lost: stepDown,
    log,
    what: "leadership",
    timing,
    random,
  });
  return {
    whenLeading: duties.whenLeading,
    isLeading: duties.isLeading,
    close: async () => {
      clearTimeout(end);
      await duties.close();
      await session.close();
    },
  };
}
