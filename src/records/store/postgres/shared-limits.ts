import type { Client, QueryConfig } from "pg";
import type { CommonBudget } from "../../../lib/limits/shared-rate-limit.ts";
import { keepSession } from "../../../lib/postgres/session.ts";
import type { Logger } from "../../../process/log.ts";

/**
 * One row per token. Unlogged: after a crash all buckets are full, and taking from one costs no sync. `granted` is what
 * the last taker got.
 */
export const budgetTable = `
  CREATE UNLOGGED TABLE rate_budgets (
    token BIGINT PRIMARY KEY,
    level DOUBLE PRECISION NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    granted BIGINT NOT NULL
  );
`;

/**
 * Uses the clock of the database, because the clocks of the nodes differ. On a conflict the row is read again under its
 * lock.
 */
const take = `
  INSERT INTO rate_budgets AS b (token, level, at, granted)
  VALUES ($1, $3::float8 - least($3::float8, $2::float8), ${clock()}, least($3::float8, $2::float8))
  ON CONFLICT (token) DO UPDATE SET
    level = ${filled()} - least(floor(${filled()}), $2::float8),
    granted = least(floor(${filled()}), $2::float8),
    at = greatest(b.at, ${clock()})
  RETURNING level, granted
`;

function clock(): string {
  return "extract(epoch FROM statement_timestamp()) * 1000";
}

function filled(): string {
  return `least($3::float8, b.level + greatest(0, ${clock()} - b.at) * $4::float8 / 60000)`;
}

export type PostgresBudget = CommonBudget & {
  /** Deletes full buckets: a bucket without takers for a minute is full, and a missing bucket counts as full. */
  readonly forgetFull: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Uses its own connection, so that rate limiting never waits for the pool. */
export function openPostgresBudget(options: { connect: () => Promise<Client>; log: Logger }): PostgresBudget {
  let client: Client | undefined;
  const session = keepSession({
    ...options,
    what: "rate limits",
    begin: async (begun) => {
      client = begun;
    },
  });
  const query = async (statement: QueryConfig): Promise<readonly unknown[]> => {
    if (client === undefined || !session.isUp()) throw new Error("not connected to the database");
    return (await client.query(statement)).rows;
  };
  return {
    takeCalls: async (token, want, { capacity, perMinute }) => {
      const [row] = await query({ name: "take-calls", text: take, values: [token, want, capacity, perMinute] });
      if (row === undefined) throw new Error("a budget that was just written does not exist");
      const { granted, level } = row as { readonly granted: number | string; readonly level: number };
      return { granted: Number(granted), left: level };
    },
    forgetFull: async () => {
      await query({ text: `DELETE FROM rate_budgets WHERE at < ${clock()} - 120000` });
    },
    close: session.close,
  };
}
