import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { type PostgresRig, startPostgresRig } from "../../../test/rig/records/postgres.ts";
import { actOn, createZoneIn, writeAllTo, writeTo } from "../../../test/rig/store/write.ts";
import { until } from "../../../test/rig/until.ts";
import { usualQuotas } from "../../core/quotas.ts";
import { OverQuota, plainSettings } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordStore } from "./port.ts";
import { migrations } from "./sqlite/schema.ts";
import { openSqliteStore } from "./sqlite/store.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

const limits = { zone: 5, account: 8, set: 7, quotas: { ...usualQuotas, zones: 3, tokens: 2 } };
const stores: readonly (readonly [string, () => Promise<RecordStore>])[] = [
  ["SQLite", async () => openSqliteStore(":memory:", migrations, undefined, limits)],
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
      await expect(create("two.example", 5)).rejects.toThrow(OverQuota);
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
      await until(async () => (await isRefused()) instanceof OverQuota);
      await expect(write(store, "two.example", 4)).rejects.toThrow("this account may have at most 8 records");
    }));

  it("of zones holds for an account, also if they are created at the same time, and ends when one is deleted", () =>
    use(async (store, create) => {
      const names = ["one", "two", "three", "four", "five"].map((name) => `${name}.example`);
      const made = await Promise.allSettled(names.map((name) => create(name, 0)));
      const refused = made.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      expect(refused).toEqual([expect.any(OverQuota), expect.any(OverQuota)]);
      expect(refused[0].message).toMatch("an account may have at most 3 zones");
      const { id: account } = await store.ensureAccount("main", 1);
      const [first] = (await store.zones(account, { page: 1, perPage: 9 })).items;
      const removal = { account, at: { name: first?.name ?? "" }, owners: "all", actor: "t", now: 2 } as const;
      await actOn(store, removal, () => ({ wanted: undefined, remove: true, result: null }));
      expect(await create("six.example", 0)).toMatchObject({ name: "six.example" });
      await expect(create("seven.example", 0)).rejects.toThrow(OverQuota);
      const other = (await store.ensureAccount("other", 1)).id;
      const settings = plainSettings(60);
      const theirs = { account: other, id: "o", name: "other.example", settings, serial: 1, created: 1, sets: [] };
      expect(await createZoneIn(store, theirs, "tester")).toMatchObject({ name: "other.example" });
    }));

  it("of tokens counts those in force: not revoked, not expired, and of this account", () =>
    use(async (store) => {
      const accounts = [await store.ensureAccount("main", 1), await store.ensureAccount("other", 1)] as const;
      let made = 0;
      const add = ([{ id: account }]: typeof accounts | [{ id: number }], created = 10, expires?: number) => {
        const scope = { access: "read", ...(expires && { expires }) } as const;
        return store.addToken({ account, name: "t", hash: String(made++), scope, created });
      };
      const first = await add(accounts);
      await add(accounts, 10, 20);
      await expect(add(accounts)).rejects.toThrow("an account may have at most 2 tokens in force");
      await add([accounts[1]]);
      expect(await add(accounts, 20)).toMatchObject({ accountName: "main" });
      await expect(add(accounts, 20)).rejects.toThrow(OverQuota);
      await store.revokeToken(first.id, 30);
      expect(await add(accounts, 30)).toMatchObject({ accountName: "main" });
    }));
});

it("PostgreSQL: the limit of tokens is exact if another node adds one at the same time", async () => {
  const url = await rig.preparedUrl();
  const database = new URL(url).pathname.slice(1);
  const store = await rig.open(url, { recordLimits: limits });
  const [node, watcher] = [await rig.server.connect(database), await rig.server.connect(database)];
  try {
    const { id: account } = await store.ensureAccount("main", 1);
    const token = { account, name: "t", scope: { access: "read" }, created: 10 } as const;
    await store.addToken({ ...token, hash: "first" });
    // What `addToken` does elsewhere, before its commit.
    await node.query("BEGIN");
    await node.query("UPDATE accounts SET name = name WHERE id = $1", [account]);
    const added = "INSERT INTO tokens (account, name, hash, scope, created) VALUES ($1, 't', 'second', '{}', 10)";
    await node.query(added, [account]);
    let isSettled = false;
    const third = store.addToken({ ...token, hash: "third" }).finally(() => {
      isSettled = true;
    });
    const ended = Promise.allSettled([third]);
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
    await until(async () => isSettled || (await watcher.query(waiting, [database])).rows.length > 0);
    await node.query("COMMIT");
    expect(await ended).toMatchObject([{ status: "rejected", reason: expect.any(OverQuota) }]);
  } finally {
    await Promise.all([node.end(), watcher.end()]);
    await store.close();
  }
});
