import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { aSet } from "../../../../test/rig/records/a-set.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { createZoneIn } from "../../../../test/rig/store/write.ts";
import { until } from "../../../../test/rig/until.ts";
import { plainSettings } from "../../model.ts";
import type { PostgresStore } from "./store.ts";

const now = Date.UTC(2026, 10, 18);
/** More than 5,000 rows are staged, and the server moves up to 25,000 of them at a time. */
const [staged, movedInParts] = [5_500, 26_000];

let rig: PostgresRig;
let url: string;
let store: PostgresStore;
let other: pg.Client;

beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  url = await rig.preparedUrl();
  store = await rig.open(url);
  other = await rig.server.connect(database());
});
afterEach(async () => {
  await other.end();
  await store.close();
});

const database = () => new URL(url).pathname.slice(1);

const setsIn = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => aSet(`${name[0]}${i}`, "192.0.2.1"));

async function createZone(name: string, count: number): Promise<void> {
  const { id: account } = await store.ensureAccount("main", now);
  const sets = setsIn(name, count);
  const newZone = { account, id: name, name, settings: plainSettings(60), serial: 1, created: now, sets };
  expect(await createZoneIn(store, newZone, "test")).toMatchObject({ name });
}

type LogRow = { readonly position: number; readonly zone_name: string; readonly link: string };

const logRows = async (): Promise<readonly LogRow[]> =>
  (await other.query("SELECT position::int, zone_name, link::text FROM changes ORDER BY position")).rows;

/** The statement that waits for another writer. */
const waiting = async (): Promise<string | undefined> => {
  const text = "SELECT query FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
  return (await other.query(text, [database()])).rows[0]?.query;
};

it("all rows of a large write are at the server before it waits for the log, and makes others wait", async () => {
  await createZone("first.example", 1);
  const before = (await logRows()).length;
  const holder = await rig.server.connect(database());
  await holder.query("BEGIN; UPDATE log_head SET position = position");
  const made = createZone("large.example", movedInParts);
  let query: string | undefined;
  await until(async () => {
    query = await waiting();
    return query !== undefined;
  });
  await holder.query("COMMIT");
  await holder.end();
  await made;
  expect(query).toContain("UPDATE log_head");
  expect(query).not.toContain("unnest");
  await createZone("next.example", 1);
  const rows = await logRows();
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, i) => i + 1));
  const large = rows.filter(({ zone_name }) => zone_name === "large.example");
  expect([large[0]?.position, large.length]).toEqual([before + 1, rows.length - 2 * before]);
  expect([new Set(large.map(({ link }) => link)).size, new Set(rows.map(({ link }) => link)).size]).toEqual([1, 3]);
});

it("the log of a large write is complete where temporary tables are not permitted", async () => {
  const [role, password] = [`narrow_${database()}`, "pier"];
  await other.query(
    `CREATE ROLE ${role} LOGIN PASSWORD '${password}'; REVOKE TEMPORARY ON DATABASE ${database()} FROM PUBLIC;
    GRANT ALL ON SCHEMA public TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  await store.close();
  store = await rig.open(Object.assign(new URL(url), { username: role, password }).href);
  await createZone("large.example", staged);
  const rows = await logRows();
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, i) => i + 1));
  expect(new Set(rows.map(({ link }) => link)).size).toBe(1);
  const { rows: logged } = await other.query("SELECT change FROM changes ORDER BY position");
  const created = logged.map(({ change }) => JSON.parse(change));
  expect(created).toMatchObject(setsIn("large.example", staged).map((set) => ({ kind: "create", after: set })));
});
