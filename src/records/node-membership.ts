import type { Client } from "pg";
import { createRateLimit, type RateLimit } from "../lib/limits/rate-limit.ts";
import { SharedRateLimit } from "../lib/limits/shared-rate-limit.ts";
import { electLeader } from "../lib/postgres/leader.ts";
import { type Duties, leadAlways, runPeriodically } from "../process/duties.ts";
import type { Logger } from "../process/log.ts";
import { openPostgresBudget } from "./store/postgres/shared-limits.ts";

/**
 * What a node shares with other nodes on the same database: the duties that only one of them does, and the rate limits.
 */
export type NodeMembership = {
  readonly duties: Duties;
  readonly rateLimit: RateLimit | undefined;
  readonly close: () => Promise<void>;
};

export type NodeMembershipOptions = {
  /** Opens a new connection to a shared database; absent if the database is not shared. */
  readonly connect?: (() => Promise<Client>) | undefined;
  /** Calls per minute and token; absent: no limit. */
  readonly perMinute?: number | undefined;
  readonly log: Logger;
};

export function joinNodes({ connect, perMinute, log }: NodeMembershipOptions): NodeMembership {
  if (connect !== undefined) return joinOverPostgres(connect, perMinute, log);
  const duties = leadAlways(log);
  return { duties, rateLimit: perMinute === undefined ? undefined : createRateLimit(perMinute), close: duties.close };
}

const tidyEvery = 600_000;

function joinOverPostgres(connect: () => Promise<Client>, perMinute: number | undefined, log: Logger): NodeMembership {
  const duties = electLeader({ connect, log });
  if (perMinute === undefined) return { duties, rateLimit: undefined, close: duties.close };
  const budget = openPostgresBudget({ connect, log });
  duties.whenLeading(() => {
    const tidy = () => budget.forgetFull().then(() => undefined);
    return runPeriodically(tidy, tidyEvery, (error) =>
      log.warn({ err: error }, "unused rate limits could not be deleted"),
    );
  });
  return {
    duties,
    rateLimit: new SharedRateLimit({ perMinute, budget }),
    close: async () => {
      await duties.close();
      await budget.close();
    },
  };
}
