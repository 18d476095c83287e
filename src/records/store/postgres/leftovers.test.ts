import { afterAll, beforeAll, expect, it } from "vitest";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { until } from "../../../../test/rig/until.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

it("a number stays listed until its last row is gone, although another node deletes the same rows", async () => {
  const url = await rig.preparedUrl();
  const database = new URL(url).pathname.slice(1);
  const store = await rig.open(url);
  const other = await rig.server.connect(database);
  await other.query("INSERT INTO leftovers (number, kind, since) VALUES (7, 'names', 0)");
  const addNames = (from: number, to: number) =>
    other.query(
      "INSERT INTO signed_names (zone, owner, link, expires, children, types, made) SELECT 7, 'h' || i, '', 0, 0, '', '' FROM generate_series($1::int, $2::int) i",
      [from, to],
    );
  await addNames(1, 200);
  const count = async (table: string) => Number((await other.query(`SELECT count(*) FROM ${table}`)).rows[0].count);

  await other.query("BEGIN; DELETE FROM signed_names");
  await addNames(201, 500);
  const removed = store.removeLeftovers(0);
  await until(async () => {
    // Within a transaction, pg_stat_activity is a snapshot taken at the first read.
    await other.query("SELECT pg_stat_clear_snapshot()");
    const text = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
    return (await other.query(text, [database])).rows.length > 0;
  });
  await other.query("COMMIT");
  expect(await removed).toBe(true);
  expect([await count("leftovers"), await count("signed_names")]).toEqual([1, 300]);

  while (await store.removeLeftovers(0));
  expect([await count("leftovers"), await count("signed_names")]).toEqual([0, 0]);
  await other.end();
  await store.close();
});
