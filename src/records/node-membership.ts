import type { Client } from "pg";
import { type CallLimits, createRateLimit, type RateLimit } from "../lib/limits/rate-limit.ts";
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
  readonly limits: CallLimits;
  readonly close: () => Promise<void>;
};

export type NodeMembershipOptions = {
  /** Opens a new connection to a shared database; absent if the database is not shared. */
  readonly connect?: (() => Promise<Client>) | undefined;
  /** Calls of each token and session, and of an account; 0 or absent: no limit. */
  readonly perMinute?: CallsPerMinute | undefined;
  readonly log: Logger;
};

export type CallsPerMinute = { readonly caller: number; readonly account: number };

const limitsBy = (limit: (perMinute: number) => RateLimit, { caller, account }: CallsPerMinute): CallLimits => ({
  caller: caller > 0 ? limit(caller) : undefined,
  account: account > 0 ? limit(account) : undefined,
});

export function joinNodes({
  connect,
  perMinute = { caller: 0, account: 0 },
  log,
}: NodeMembershipOptions): NodeMembership {
  if (connect !== undefined) return joinOverPostgres(connect, perMinute, log);
  const duties = leadAlways(log);
  return { duties, limits: limitsBy(createRateLimit, perMinute), close: duties.close };
}

const tidyEvery = 600_000;

function joinOverPostgres(connect: () => Promise<Client>, calls: CallsPerMinute, log: Logger): NodeMembership {
  const duties = electLeader({ connect, log });
  if (calls.caller <= 0 && calls.account <= 0)
    return { duties, limits: limitsBy(createRateLimit, calls), close: duties.close };
  const budget = openPostgresBudget({ connect, log });
  duties.whenLeading(() => {
    const tidy = () => budget.forgetFull().then(() => undefined);
    return runPeriodically(tidy, tidyEvery, (error) =>
      log.warn({ err: error }, "unused rate limits could not be deleted"),
    );
  });
  return {
    duties,
    limits: limitsBy((perMinute) => new SharedRateLimit({ perMinute, budget }), calls),
    close: async () => {
      await duties.close();
      await budget.close();
    },
  };
}
