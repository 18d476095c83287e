import type { Client } from "pg";
import { type Duties, leadAlways } from "../process/duties.ts";
import type { Logger } from "../process/log.ts";
import { takeTurns } from "../process/postgres/turn.ts";
import { createRateLimit, type RateLimit } from "./limits/rate-limit.ts";
import { createSharedRateLimit } from "./limits/shared.ts";
import { openPostgresBudget } from "./limits/shared-postgres.ts";

/** What a node does together with those that have the same database: take turns in what must be done once, and count calls. */
export type NodeTies = {
  readonly duties: Duties;
  readonly rateLimit: RateLimit | undefined;
  readonly close: () => Promise<void>;
};

export type TiesOptions = {
  /** A new connection to the database that is shared; left out when it is not. */
  readonly connect?: (() => Promise<Client>) | undefined;
  /** Calls a minute and token; left out: no limit. */
  readonly perMinute?: number | undefined;
  readonly log: Logger;
};

export function tieNodes({ connect, perMinute, log }: TiesOptions): NodeTies {
  if (connect !== undefined) return tieOver(connect, perMinute, log);
  const duties = leadAlways(log);
  return { duties, rateLimit: perMinute === undefined ? undefined : createRateLimit(perMinute), close: duties.close };
}

const tidyEvery = 600_000;

function tieOver(connect: () => Promise<Client>, perMinute: number | undefined, log: Logger): NodeTies {
  const duties = takeTurns({ connect, log });
  if (perMinute === undefined) return { duties, rateLimit: undefined, close: duties.close };
  const budget = openPostgresBudget({ connect, log });
  duties.whenLeading(() => {
    const tidy = () => budget.forgetFull().catch((error: unknown) => log.warn({ err: error }, "old rate limits stay"));
    const timer = setInterval(() => void tidy(), tidyEvery).unref();
    return () => clearInterval(timer);
  });
  return {
    duties,
    rateLimit: createSharedRateLimit({ perMinute, budget }),
    close: async () => {
      await duties.close();
      await budget.close();
    },
  };
}
