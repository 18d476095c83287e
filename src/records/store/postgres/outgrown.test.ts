import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makePool, type poolOf } from "../../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { MigrationStep } from "../../../lib/sqlite/migration-steps.ts";
import { createLog } from "../../../process/log.ts";
import { postgresMigrations } from "./schema.ts";
import type { PostgresStore } from "./store.ts";

let rig: PostgresRig;
let url: string;
let old: PostgresStore;
let pool: ReturnType<typeof poolOf>;
let said: string[];
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig?.stop());
beforeEach(async () => {
  url = await rig.freshUrl();
  said = [];
  old = await rig.open(url, { log: createLog({ format: "text", write: (line) => void said.push(line) }) });
  pool = await makePool(old);
});
afterEach(() => old.close());

const openNewer = (step: MigrationStep) => rig.open(url, { migrations: [...postgresMigrations, step] });
const known = postgresMigrations.length;

async function update(schemaVersion: string): Promise<void> {
  const client = await rig.server.connect(new URL(url).pathname.slice(1));
  await client.query(`UPDATE schema_version SET ${schemaVersion}`);
  await client.end();
}

async function expectOutgrown(): Promise<void> {
  expect((await old.outgrown).message).toMatch(/was written by a newer moor .* start the newer version instead/);
  const refused = await pool.add(old, "192.0.2.9").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreBusy);
  expect((refused as StoreBusy).message).not.toContain("postgres:");
  await expect(old.revokeToken(1, 1)).rejects.toThrow(StoreBusy);
  await expect(old.checkHealth()).rejects.toThrow(/newer moor/);
  expect(said.filter((line) => line.includes("no longer writes to it"))).toHaveLength(1);
  expect((await pool.look(old)).values).toEqual(["192.0.2.1"]);
}

describe("a node on a database that a newer version upgrades", () => {
  it("stops writing if it is not compatible, and says why, once", async () => {
    await pool.add(old, "192.0.2.1");
    const newer = await openNewer("CREATE TABLE newer (one BOOLEAN)");
    await expectOutgrown();
    await newer.close();
  });

  it("stops writing even without a notification", async () => {
    await pool.add(old, "192.0.2.1");
    await update(`taken = ${known + 1}, oldest = ${known + 1}`);
    await expectOutgrown();
  });

  it("continues if it is compatible", async () => {
    const newer = await openNewer({ sql: "CREATE TABLE newer (one BOOLEAN)", oldest: known });
    let outgrown = false;
    void old.outgrown.then(() => {
      outgrown = true;
    });
    // Arrives after the notification of the migration, on the same session.
    const heard = new Promise<void>((resolve) => old.onChange(() => resolve()));
    await pool.add(newer, "192.0.2.1");
    await heard;
    expect(await pool.add(old, "192.0.2.2")).toBe("192.0.2.2");
    await old.checkHealth();
    // A session that timed out is opened again and logged; that has nothing to do with the schema.
    expect([outgrown, said.filter((line) => !line.includes("the connection to the database was lost"))]).toEqual([
      false,
      [],
    ]);
    await newer.close();
  });

  it("reads a table with a new column over its existing connections", async () => {
    const zones = async () => (await old.zones(pool.request.account, { page: 1, perPage: 5 })).items;
    const [zone] = await zones();
    const byName = () => old.zoneBy(pool.request.account, { name: zone?.name ?? "" });
    expect(await byName()).toEqual(zone);
    const newer = await openNewer({ sql: "ALTER TABLE zones ADD COLUMN newer TEXT", oldest: known });
    expect([await byName(), await zones()]).toEqual([zone, [zone]]);
    expect(await pool.add(old, "192.0.2.2")).toBe("192.0.2.2");
    await newer.close();
  });
});
