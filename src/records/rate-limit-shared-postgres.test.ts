import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../test/rig/postgres.ts";
import { createSharedRateLimit } from "./rate-limit-shared.ts";
import { budgetInPostgres, budgetTable } from "./rate-limit-shared-postgres.ts";

let server: PostgresServer;
let pool: pg.Pool;

beforeAll(async () => {
  server = await startPostgres();
  pool = new pg.Pool({ connectionString: server.url(), max: 8 });
  // The server may go before the last connection has been let go.
  const letGo = () => undefined;
  pool.on("error", letGo).on("connect", (client) => client.on("error", letGo));
  await pool.query(budgetTable);
});
afterAll(async () => {
  await pool.end();
  await server.stop();
});

const rule = { capacity: 100, perMinute: 60 };

describe("a common budget in PostgreSQL", () => {
  it("gives what there is, and then nothing", async () => {
    const { takeCalls } = budgetInPostgres(pool);
    expect(await takeCalls(1, 30, rule)).toEqual({ granted: 30, left: 70 });
    const rest = await takeCalls(1, 100, rule);
    expect(rest.granted).toBe(70);
    expect(rest.left).toBeLessThan(1);
    expect((await takeCalls(1, 1, rule)).granted).toBe(0);
    expect((await takeCalls(2, 1_000, rule)).granted).toBe(100);
  });

  it("fills again, evenly and no higher than full", async () => {
    const { takeCalls } = budgetInPostgres(pool);
    await takeCalls(3, 100, rule);
    await pool.query("UPDATE rate_budgets SET at = at - 10000 WHERE token = 3");
    expect((await takeCalls(3, 100, rule)).granted).toBe(10);
    await pool.query("UPDATE rate_budgets SET at = at - 10000000 WHERE token = 3");
    expect(await takeCalls(3, 40, rule)).toEqual({ granted: 40, left: 60 });
  });

  it("gives no call twice to those who take at once", async () => {
    const { takeCalls } = budgetInPostgres(pool);
    const grants = await Promise.all(
      Array.from({ length: 64 }, () => takeCalls(4, 3, { capacity: 100, perMinute: 1 })),
    );
    expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(100);
  });

  it("holds a limit on three nodes under a storm", async () => {
    const nodes = [1, 2, 3].map(() =>
      createSharedRateLimit({ perMinute: 200, budget: budgetInPostgres(pool), patience: 5_000 }),
    );
    const started = Date.now();
    let passed = 0;
    const storm = nodes.flatMap((node) =>
      Array.from({ length: 150 }, async () => {
        await node.ready?.(5, "192.0.2.1", Date.now());
        if (node.take(5, "192.0.2.1", Date.now()).retryAfter === undefined) passed += 1;
      }),
    );
    await Promise.all(storm);
    expect(passed).toBeLessThanOrEqual(200 + ((Date.now() - started) * 200) / 60_000 + 1);
    expect(passed).toBeGreaterThanOrEqual(190);
  });

  it("forgets buckets that are full by now", async () => {
    const budget = budgetInPostgres(pool);
    await budget.takeCalls(6, 1, rule);
    await pool.query("UPDATE rate_budgets SET at = at - 200000");
    await budget.takeCalls(7, 1, rule);
    await budget.forgetFull();
    const { rows } = await pool.query("SELECT token FROM rate_budgets");
    expect(rows).toEqual([{ token: "7" }]);
  });
});
