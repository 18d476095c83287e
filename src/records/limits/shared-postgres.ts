import type { Client, QueryConfig } from "pg";
import type { Logger } from "../../process/log.ts";
import { keepSession } from "../../process/postgres/session.ts";
import type { CommonBudget } from "./shared.ts";

/**
 * One row a token. Not in the log of the database: after a crash all buckets are full, and taking from one costs no sync.
 * `granted` is what the last taker got.
 */
export const budgetTable = `
  CREATE UNLOGGED TABLE rate_budgets (
    token BIGINT PRIMARY KEY,
    level DOUBLE PRECISION NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    granted BIGINT NOT NULL
  );
`;

/** By the clock of the database: those of the nodes differ. A row that was written meanwhile is read again under its lock. */
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
  /** A bucket that nobody has taken from for a minute is full, and a full one is as good as none. */
  readonly forgetFull: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** On a connection of its own: calls that wait for one of the pool must not be what the limit waits for. */
export function openPostgresBudget(options: { connect: () => Promise<Client>; log: Logger }): PostgresBudget {
  let client: Client | undefined;
  const session = keepSession({
    ...options,
    what: "rate limits",
    begin: async (begun) => {
      client = begun;
    },
  });
  const query = async (asked: QueryConfig): Promise<readonly unknown[]> => {
    if (client === undefined || !session.isUp()) throw new Error("there is no connection to the database");
    return (await client.query(asked)).rows;
  };
  return {
    takeCalls: async (token, want, { capacity, perMinute }) => {
      const [row] = await query({ name: "take-calls", text: take, values: [token, want, capacity, perMinute] });
      if (row === undefined) throw new Error("a budget that was just written is not there");
      const { granted, level } = row as { readonly granted: number | string; readonly level: number };
      return { granted: Number(granted), left: level };
    },
    forgetFull: async () => {
      await query({ text: `DELETE FROM rate_budgets WHERE at < ${clock()} - 120000` });
    },
    close: session.close,
  };
}
