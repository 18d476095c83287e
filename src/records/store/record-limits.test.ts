import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { type PostgresRig, startPostgresRig } from "../../../test/rig/records/postgres.ts";
import { actOn, createZoneIn, writeAllTo, writeTo } from "../../../test/rig/store/write.ts";
import { until } from "../../../test/rig/until.ts";
import { plainSettings, TooManyRecords } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordStore } from "./port.ts";
import { migrations } from "./sqlite/schema.ts";
import { openSqliteStore } from "./sqlite/store.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

const limits = { zone: 5, account: 8, set: 7 };
const stores: readonly (readonly [string, () => Promise<RecordStore>])[] = [
  ["SQLite", async () => openSqliteStore(":memory:", migrations, undefined, undefined, limits)],
  ["PostgreSQL", () => rig.open(undefined, { recordLimits: limits })],
];

describe.each(stores)("%s: a limit of records", (_, open) => {
  const setsOf = (zone: string, hosts: number) =>
    writtenSets(
      zone,
      `@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300${Array.from({ length: hosts }, (__, i) => `\nh${i} 60 A 192.0.2.1`).join("")}`,
    ).map((set) => ({ ...set, records: set.records.map((record) => ({ ...record, id: newRecordId() })) }));

  const use = async (work: (store: RecordStore, create: Create) => Promise<void>) => {
    const store = await open();
    const { id: account } = await store.ensureAccount("main", 1);
    const create: Create = async (name, hosts) => {
      const settings = plainSettings(60);
      const sets = setsOf(name, hosts);
      return await createZoneIn(store, { account, id: name, name, settings, serial: 1, created: 1, sets }, "tester");
    };
    await work(store, create);
    await store.close();
  };
  type Create = (name: string, hosts: number) => Promise<unknown>;

  const write = async (store: RecordStore, zone: string, hosts: number) => {
    const { id: account } = await store.ensureAccount("main", 1);
    const request = { account, at: { zone }, owners: "all" as const, actor: "tester", now: 1 };
    return await writeTo(store, request, () => ({ wanted: setsOf(zone, hosts), result: "done" }));
  };

  it("holds for a zone: it can be filled, but not beyond, and always be emptied", () =>
    use(async (store, create) => {
      await create("one.example", 3);
      expect(await write(store, "one.example", 4)).toBe("done");
      await expect(write(store, "one.example", 5)).rejects.toThrow(
        "the zone one.example may have at most 5 records; delete some, or ask the operator of this service to raise the limit",
      );
      await expect(create("two.example", 5)).rejects.toThrow(TooManyRecords);
      expect(await write(store, "one.example", 0)).toBe("done");
    }));

  it("of a set is told to the rule of every write", () =>
    use(async (store, create) => {
      await create("one.example", 1);
      const { id: account } = await store.ensureAccount("main", 1);
      const by = { account, actor: "tester", now: 1 };
      const told: unknown[] = [];
      for (const owners of [
        "all",
        "to-remove",
        () => ["h0"],
        () => setsOf("one.example", 20).map(({ owner }) => owner),
      ] as const) {
        await writeTo(store, { ...by, at: { zone: "one.example" }, owners }, ({ mostValues }) => {
          told.push(mostValues);
          return { wanted: undefined, result: "seen" };
        });
        await actOn(store, { ...by, at: { name: "one.example" }, owners }, ({ mostValues }) => {
          told.push(mostValues);
          return { wanted: undefined, result: "seen" };
        });
      }
      const request = { ...by, at: { zone: "one.example" }, owners: () => ["h0"] };
      await writeAllTo(store, [request], ([view]) => {
        told.push(view?.mostValues);
        return { decisions: [{ wanted: undefined }], result: "seen" };
      });
      expect(told.length).toBeGreaterThanOrEqual(9);
      expect(new Set(told)).toEqual(new Set([limits.set]));
    }));

  it("holds for all zones of an account", () =>
    use(async (store, create) => {
      await create("one.example", 3);
      await create("two.example", 2);
      // The records are counted in the background.
      const isRefused = () =>
        write(store, "two.example", 4).then(
          async () => void (await write(store, "two.example", 2)),
          (error: unknown) => error,
        );
      await until(async () => (await isRefused()) instanceof TooManyRecords);
      await expect(write(store, "two.example", 4)).rejects.toThrow("this account may have at most 8 records");
    }));
});
