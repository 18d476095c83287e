import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type PgBouncer, startPgBouncer } from "../../../../test/rig/records/pgbouncer.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { until } from "../../../../test/rig/until.ts";

/** PgBouncer between a node and its database. */

let rig: PostgresRig;
let pooler: PgBouncer | undefined;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterEach(async () => {
  await pooler?.stop();
  pooler = undefined;
});
afterAll(() => rig?.stop());

async function behind(...settings: readonly string[]) {
  const { pathname } = new URL(await rig.preparedUrl());
  pooler = await startPgBouncer(rig.server, settings);
  const [database, { port }] = [pathname.slice(1), pooler];
  return {
    open: () => rig.open(rig.server.url(database, port)),
    connect: () => rig.server.connect(database, port),
  };
}

const ignored =
  "ignore_startup_parameters = options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout";

it.each(["transaction", "statement"])("a pooler that shares sessions per %s is refused", async (mode) => {
  const { open } = await behind(`pool_mode = ${mode}`, ignored);
  await expect(open()).rejects.toThrow(/cannot be used: .*transaction-mode pooler.*; connect to the server itself/);
});

it.each([1, 2, 3])("a pooler that rotates %i sessions is refused too", async (size) => {
  const inTurn = ["server_round_robin = 1", `min_pool_size = ${size}`, `default_pool_size = ${size}`];
  const { open, connect } = await behind("pool_mode = transaction", ...inTurn, ignored);
  const client = await connect();
  const seen = new Set<unknown>();
  await until(async () => {
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    return seen.add(rows[0].pid).size === size;
  });
  await expect(open()).rejects.toThrow(/transaction-mode pooler/);
  await client.end();
});

it("a pooler that accepts no startup parameters is refused, and the message says what to do", async () => {
  const { open } = await behind("pool_mode = session");
  await expect(open()).rejects.toThrow(/unsupported startup parameter.*; .*connect to the server itself/);
});

it("a pooler in session mode works", async () => {
  const { open } = await behind("pool_mode = session", ignored);
  const store = await open();
  const account = await store.ensureAccount("main", 1);
  expect(await store.ensureAccount("main", 2)).toEqual(account);
  await store.close();
});
