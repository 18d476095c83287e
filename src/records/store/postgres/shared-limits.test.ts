import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../test/rig/postgres.ts";
import { addressOf } from "../../../../test/rig/records/postgres.ts";
import { until } from "../../../../test/rig/until.ts";
import { SharedRateLimit } from "../../../lib/limits/shared-rate-limit.ts";
import { openPostgres, type Postgres } from "../../../lib/postgres/open.ts";
import { noLog } from "../../../process/log.ts";
import { budgetTable, openPostgresBudget, type PostgresBudget } from "./shared-limits.ts";

let server: PostgresServer;
let postgres: Postgres;
let budgets: readonly [PostgresBudget, PostgresBudget, PostgresBudget];

beforeAll(async () => {
  server = await startPostgres();
  postgres = openPostgres(addressOf(server.url()), log);
  await run(budgetTable);
  budgets = [open(), open(), open()];
  for (const budget of budgets) await until(() => isThere(budget), { what: () => "a connection" });
});
afterAll(async () => {
  await Promise.all(budgets.map((budget) => budget.close()));
  await postgres.close();
  await server.stop();
});

const log = noLog;
const open = () => openPostgresBudget({ connect: postgres.connect, log });

const isThere = (budget: PostgresBudget): Promise<boolean> =>
  budget.takeCalls(0, 0, rule).then(
    () => true,
    () => false,
  );

async function run(text: string): Promise<readonly unknown[]> {
  const client = await server.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows as readonly unknown[];
}

/** Refills slowly, so that a slow machine does not get more. */
const rule = { capacity: 100, perMinute: 0.6 };

describe("a common budget in PostgreSQL", () => {
  it("grants what is left, and then nothing", async () => {
    const [{ takeCalls }] = budgets;
    expect(await takeCalls(1, 30, rule)).toEqual({ granted: 30, left: 70 });
    const rest = await takeCalls(1, 100, rule);
    expect(rest.granted).toBe(70);
    expect(rest.left).toBeLessThan(1);
    expect((await takeCalls(1, 1, rule)).granted).toBe(0);
    expect((await takeCalls(2, 1_000, rule)).granted).toBe(100);
  });

  it("refills evenly, up to its capacity", async () => {
    const [{ takeCalls }] = budgets;
    await takeCalls(3, 100, rule);
    await run("UPDATE rate_budgets SET at = at - 1000000 WHERE token = 3");
    expect((await takeCalls(3, 100, rule)).granted).toBe(10);
    await run("UPDATE rate_budgets SET at = at - 10000000 WHERE token = 3");
    expect(await takeCalls(3, 40, rule)).toEqual({ granted: 40, left: 60 });
  });

  it("grants no call twice to simultaneous takers, and the driver does not complain", async () => {
    const complaints: string[] = [];
    const hear = ({ message }: Error) => complaints.push(message);
    process.on("warning", hear);
    const storm = Array.from({ length: 24 }, () =>
      budgets.map(({ takeCalls }) => takeCalls(4, 3, { capacity: 100, perMinute: 0.1 })),
    );
    const grants = await Promise.all(storm.flat());
    expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(100);
    expect(complaints).toEqual([]);
    process.off("warning", hear);
  });

  it("holds a limit on three nodes under heavy load", async () => {
    const nodes = budgets.map((budget) => new SharedRateLimit({ perMinute: 200, budget, patience: 60_000 }));
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

  it("deletes buckets that are full again", async () => {
    const [budget] = budgets;
    await budget.takeCalls(6, 1, rule);
    await run("UPDATE rate_budgets SET at = at - 200000");
    await budget.takeCalls(7, 1, rule);
    await budget.forgetFull();
    expect(await run("SELECT token FROM rate_budgets")).toEqual([{ token: "7" }]);
  });
});
