import type { PoolClient } from "pg";
import { expect, it } from "vitest";
import { resultOf } from "./transaction.ts";

/**
 * A standby assigns no transaction ids: it refuses the request for one, and then everything else in the failed
 * transaction.
 */
const standby = {
  query: async (asked: string | { readonly text: string }) => {
    const text = typeof asked === "string" ? asked : asked.text;
    if (text === "BEGIN" || text === "ROLLBACK") return { rows: [] };
    throw text.includes("pg_current_xact_id")
      ? Object.assign(new Error("cannot assign transaction IDs during recovery"), { code: "25006" })
      : Object.assign(new Error("current transaction is aborted"), { code: "25P02" });
  },
} as unknown as PoolClient;

it("a transaction reports its first error, not those that follow from it", async () => {
  const done = resultOf(async (run) => ({ result: await run({ text: "SELECT 1" }) }), {
    withClient: (work) => work(standby),
    limit: 1_000,
    mark: () => {
      throw new Error("no commit was expected");
    },
  });
  await expect(done).rejects.toMatchObject({ code: "25006" });
});
