import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makePool, type poolOf } from "../../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { actOn, createZoneIn, writeAllTo, writeTo } from "../../../../test/rig/store/write.ts";
import { until } from "../../../../test/rig/until.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { plainSettings } from "../../model.ts";
import type { PostgresStore } from "./store.ts";

type Pool = ReturnType<typeof poolOf>;

let rig: PostgresRig;
let url: string;
let store: PostgresStore;
/** Another client of the same database. */
let other: Client;
let [locked, free]: [Pool, Pool] = [undefined as never, undefined as never];

beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  url = await rig.preparedUrl();
  store = await rig.open(url);
  locked = await makePool(store, "locked.example");
  free = await makePool(store, "free.example");
  other = await rig.server.connect(new URL(url).pathname.slice(1));
});
afterEach(async () => {
  await other.end();
  await store.close();
});

const lockZone = (name = "locked.example") =>
  other.query(`BEGIN; SELECT 1 FROM zones WHERE name = '${name}' FOR UPDATE`);
const unlock = () => other.query("COMMIT");
/** Ids of records are unique in the whole store. */
const add = (pool: Pool, to: PostgresStore, i: number) => pool.add(to, `10.0.${pool.zone.number}.${i}`);
const addMany = async (pool: Pool, to: PostgresStore, count: number, from = 0) => {
  for (let i = 0; i < count; i += 1) await add(pool, to, from + i);
};

describe("while a zone is locked by another transaction", () => {
  it("writes to other zones go on, and its own writes happen when it is released", async () => {
    await lockZone();
    const own = Promise.all([1, 2, 3].map((i) => add(locked, store, i)));
    let isOver = false;
    void own.finally(() => {
      isOver = true;
    });
    await addMany(free, store, 20);
    expect(isOver).toBe(false);
    await unlock();
    expect(await own).toHaveLength(3);
    expect((await locked.look(store)).writes).toBe(3);
    expect((await free.look(store)).writes).toBe(20);
  });

  it("even if it was locked right after our own batch wrote to it", async () => {
    const writing = Array.from({ length: 8 }, (_, writer) => addMany(locked, store, 10, writer * 10));
    await lockZone();
    await addMany(free, store, 20);
    await unlock();
    await Promise.all(writing);
    expect((await locked.look(store)).writes).toBe(80);
  });

  it("only its own writers fail, with the reason", async () => {
    const hasty = await rig.open(url, { limits: { lock: 100 } });
    await lockZone();
    const refused = locked.add(hasty, "192.0.2.1");
    await expect(refused).rejects.toThrow(StoreBusy);
    await expect(refused).rejects.toThrow(/^the zone locked\.example is locked by another transaction/);
    await addMany(free, hasty, 3);
    await unlock();
    expect(await locked.add(hasty, "192.0.2.2")).toBe("192.0.2.2");
    expect((await locked.look(store)).values).toEqual(["192.0.2.2"]);
    await hasty.close();
  });

  it("many locked zones do not use up the connections", async () => {
    const pools = await Promise.all(Array.from({ length: 20 }, (_, i) => makePool(store, `locked${i}.example`)));
    await other.query("BEGIN; SELECT 1 FROM zones WHERE name LIKE 'locked%' FOR UPDATE");
    const own = pools.map((pool) => add(pool, store, 1));
    await addMany(free, store, 20);
    expect(await free.look(store)).toMatchObject({ writes: 20 });
    await unlock();
    expect(await Promise.all(own)).toHaveLength(20);
  });

  it("a write to it and to another zone waits as a whole", async () => {
    await lockZone();
    const both = writeAllTo(store, [free.request, locked.request], (views) => ({
      decisions: views.map(() => ({ wanted: undefined })),
      result: views.length,
    }));
    await addMany(free, store, 5);
    await unlock();
    expect(await both).toBe(2);
  });

  it("a record of it that is named by its id waits, and one that does not exist is not found", async () => {
    await locked.add(store, "192.0.2.1");
    await lockZone();
    const write = (record: string) =>
      writeTo(store, { ...locked.request, at: { record } }, () => ({ wanted: [], result: "gone" }));
    const waiting = write("pool-192.0.2.1");
    expect(await write("nothing")).toBeUndefined();
    const nowhere = { ...locked.request, at: { zone: "nothing" } };
    expect(await writeTo(store, nowhere, () => ({ wanted: [], result: 1 }))).toBeUndefined();
    await unlock();
    expect(await waiting).toBe("gone");
  });

  it("a zone of another account is not waited for", async () => {
    await lockZone();
    const foreign = { ...locked.request, account: locked.request.account + 1 };
    expect(await writeTo(store, foreign, () => ({ wanted: [], result: 1 }))).toBeUndefined();
    await unlock();
  });
});

describe("other locks", () => {
  const hold = (name: string) => other.query("SELECT pg_advisory_lock(hashtextextended($1, 0))", [name]);
  const release = () => other.query("SELECT pg_advisory_unlock_all()");

  it("zones that are being created delay only new zones", async () => {
    await hold("new zones");
    const { account } = free.request;
    const zone = {
      account,
      id: "n",
      name: "new.example",
      settings: plainSettings(60),
      serial: 1,
      created: 1,
      sets: [],
    };
    const made = createZoneIn(store, zone, "tester");
    await addMany(free, store, 5);
    expect(await store.zone(account, "n")).toBeUndefined();
    await release();
    expect(await made).toMatchObject({ name: "new.example" });
  });

  it("a request that is still running delays only its repetition", async () => {
    await hold("key tester k");
    const idempotencyKey = { key: "k", fingerprint: "f" };
    const act = actOn(store, { ...free.request, at: { number: free.zone.number }, idempotencyKey }, () => ({
      wanted: undefined,
      result: 7,
      remember: true,
    }));
    await addMany(free, store, 5);
    await release();
    expect(await act).toMatchObject({ result: 7 });
  });
});

it("two nodes that write to one zone both go on", async () => {
  const second = await rig.open(url);
  let isOver = false;
  let [one, two] = [0, 0];
  const busy = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; !isOver; i += 1) {
      await locked.add(store, `192.0.${writer}.${i}`);
      one += 1;
    }
  });
  for (let i = 0; i < 20; i += 1) {
    await locked.add(second, `192.1.2.${i}`);
    two += 1;
  }
  await until(() => one > 20, { what: () => "the first node to write" });
  isOver = true;
  await Promise.all(busy);
  expect((await locked.look(second)).writes).toBe(one + two);
  await second.close();
});
