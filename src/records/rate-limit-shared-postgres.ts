import type { Pool } from "pg";
import type { CommonBudget } from "./rate-limit-shared.ts";

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

export function budgetInPostgres(
  pool: Pick<Pool, "query">,
): CommonBudget & { readonly forgetFull: () => Promise<void> } {
  return {
    takeCalls: async (token, want, { capacity, perMinute }) => {
      const { rows } = await pool.query<{ level: number; granted: string }>({
        name: "take-calls",
        text: take,
        values: [token, want, capacity, perMinute],
      });
      const [row] = rows;
      if (row === undefined) throw new Error("a budget that was just written is not there");
      return { granted: Number(row.granted), left: row.level };
    },
    /** A bucket that nobody has taken from for a minute is full, and a full one is as good as none. */
    forgetFull: async () => {
      await pool.query(`DELETE FROM rate_budgets WHERE at < ${clock()} - 120000`);
    },
  };
}
