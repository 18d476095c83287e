import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isLongRun } from "../../../../test/rig/long-run.ts";
import { makePool, type poolOf } from "../../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { createZoneActionIn, createZoneIn, writeAllTo } from "../../../../test/rig/store/write.ts";
import { until } from "../../../../test/rig/until.ts";
import { wholeAccount } from "../../../core/may.ts";
import { plainSettings } from "../../model.ts";
import type { PostgresStore } from "./store.ts";

let rig: PostgresRig;
let one: PostgresStore;
let two: PostgresStore;
let pool: ReturnType<typeof poolOf>;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  const url = await rig.preparedUrl();
  [one, two] = await Promise.all([rig.open(url), rig.open(url)]);
  pool = await makePool(one);
});
afterEach(async () => {
  await one.close();
  await two.close();
});

describe("two stores on one database", () => {
  it("never create both a zone and one inside it for two accounts at the same time", async () => {
    const [ours, theirs] = [await one.ensureAccount("ours", 1), await two.ensureAccount("theirs", 1)];
    const zone = (account: number, name: string) => ({
      account,
      id: name,
      name,
      settings: plainSettings(60),
      serial: 1,
      created: 1,
      sets: [],
    });
    for (let i = 0; i < (isLongRun ? 40 : 12); i += 1) {
      const [outer, inner] = [zone(ours.id, `z${i}.test`), zone(theirs.id, `a.b.z${i}.test`)];
      const made = await Promise.all([createZoneIn(one, outer, "a"), createZoneIn(two, inner, "a")]);
      expect(made.filter((each) => typeof each !== "string")).toHaveLength(1);
    }
  });

  it("lose and duplicate nothing with 32 writers on one set", async () => {
    const each = isLongRun ? 10 : 4;
    const writers = Array.from({ length: 32 }, async (_, writer) => {
      for (let i = 0; i < each; i += 1) await pool.add(writer % 2 === 0 ? one : two, `192.0.${writer}.${i}`);
    });
    await Promise.all(writers);
    const { values, writes, positions } = await pool.look(two);
    expect(new Set(values).size).toBe(32 * each);
    expect([values.length, writes]).toEqual([32 * each, 32 * each]);
    expect(positions).toEqual(positions.map((_, i) => i + 1));
  });

  it("write to many zones in any order without a deadlock", async () => {
    const pools = await Promise.all(Array.from({ length: 6 }, (_, i) => makePool(one, `zone-${i}.example`)));
    const both = Array.from({ length: 60 }, (_, i) => {
      const [a, b] = [pools[i % 6], pools[(i * 5 + 1) % 6]];
      if (a === undefined || b === undefined || a === b) return Promise.resolve(0);
      return writeAllTo(i % 2 === 0 ? one : two, [a.request, b.request], (views) => ({
        decisions: views.map(() => ({ wanted: undefined })),
        result: 1,
      }));
    });
    expect((await Promise.all(both)).length).toBe(60);
  });

  it("never show a log position before a lower one", async () => {
    const pools = await Promise.all(Array.from({ length: 8 }, (_, i) => makePool(one, `zone-${i}.example`)));
    const seen: number[] = [];
    let [position, going] = [await two.lastChange(), true];
    const start = position;
    const follow = async () => {
      while (going) {
        for (const row of await two.changesAfter(position, 1_000)) {
          seen.push(row.position);
          position = row.position;
        }
      }
    };
    const following = follow();
    const count = isLongRun ? 10 : 5;
    const writers = pools.flatMap((each) => [one, two].map((store) => ({ each, store })));
    await Promise.all(
      writers.map(async ({ each, store }, writer) => {
        for (let i = 0; i < count; i += 1) await each.add(store, `192.0.${writer}.${i}`);
      }),
    );
    const last = start + writers.length * count;
    await until(() => position === last, { what: () => `${position} is not ${last}` });
    going = false;
    await following;
    expect(seen).toEqual(Array.from({ length: writers.length * count }, (_, i) => start + i + 1));
  });

  it("are notified of each other's writes, and of their own with the rows", async () => {
    const heard: unknown[] = [];
    one.onChange((rows) => heard.push(rows?.length));
    two.onChange((rows) => heard.push(rows?.length));
    await pool.add(one, "192.0.2.1");
    await until(() => heard.length >= 2, { what: () => `heard ${heard.length}` });
    expect(heard).toHaveLength(2);
  });

  it("drop a cached token when the other one revokes it", async () => {
    const account = pool.zone.account;
    const { id } = await one.addToken({ account, name: "t", hash: "h", scope: wholeAccount, created: 1 });
    expect((await two.tokenByHash("h"))?.revoked).toBeUndefined();
    await one.revokeToken(id, 5);
    const revoked = async () => (await two.tokenByHash("h"))?.revoked === 5;
    await until(revoked, { what: () => "the token is still good" });
  });

  it.each(["a token", "a session", "all sessions of somebody", "a transfer key", "a token, without a notification"])(
    "learn that access was revoked at the other one: %s",
    async (what) => {
      const { account } = pool.zone;
      const token = await one.addToken({ account, name: "t", hash: "h", scope: wholeAccount, created: 1 });
      const session = { hash: "s", who: "1", from: "192.0.2.1", agent: "", created: 1 };
      const { id } = await one.console.sessions.add(session);
      const key = { name: "k", algorithm: "hmac-sha256", secret: "c2VjcmV0", account, scope: wholeAccount } as const;
      await one.addTransferKey({ ...key, created: 1 });
      const gone = async () =>
        (await two.tokenByHash("h"))?.revoked !== undefined ||
        (await two.console.sessions.byHash("s")) === undefined ||
        (await two.transferKey("k")) === undefined;
      expect(await gone()).toBe(false);
      let seen = false;
      two.onAccessChange(() => {
        void gone().then((is) => {
          seen ||= is;
        });
      });
      if (what === "a token") await one.revokeToken(token.id, 5);
      if (what === "a session") await one.console.sessions.remove("1", id);
      if (what === "all sessions of somebody") await one.console.sessions.removeAll("1");
      if (what === "a transfer key") await one.revokeTransferKey("k", 5);
      if (what === "a token, without a notification") {
        const client = await one.connect();
        await client.query("UPDATE tokens SET revoked = 5");
        await client.end();
      }
      await until(() => seen, { what: () => `${what} is still good` });
    },
  );

  it("hear of wrong passwords at the other one, and not of their own again", async () => {
    const heard: [string[], string[]] = [[], []];
    for (const [i, store] of [one, two].entries())
      store.console.guesses?.onHeard(({ name, source }) => void heard[i]?.push(`${name} ${source}`));
    // What is told before the connection for notifications is up is not heard.
    let told = 0;
    const tellAgain = () => {
      told += 1;
      one.console.guesses?.tell({ name: "at one", source: `192.0.2.${told}` });
      two.console.guesses?.tell({ name: "at two", source: `192.0.2.${told}` });
      return heard.every((each) => each.length > 0);
    };
    await until(tellAgain, { every: 100, what: () => "what was tried at the other one" });
    expect(heard.map((each) => each[0]?.split(" 192.0.2.")[0])).toEqual(["at two", "at one"]);
    expect(heard[0].filter((each) => each.startsWith("at one"))).toEqual([]);
    expect(heard[1].filter((each) => each.startsWith("at two"))).toEqual([]);
  });

  it("create a zone once per name, and accept a key once, no matter which one is asked", async () => {
    const { account } = pool.zone;
    const draft = { ...pool.zone, id: "a", name: "twice.example", sets: [] };
    const idempotencyKey = { key: "k", fingerprint: "f" };
    const made = await Promise.all(
      [one, two, one, two].map((store, i) =>
        createZoneActionIn(
          store,
          { ...draft, account, id: `id ${i}` },
          { actionName: "make", actor: "a", now: 1, idempotencyKey },
        ),
      ),
    );
    expect(new Set(made.map((each) => JSON.stringify(each))).size).toBe(1);
    const others = [one, two].map((store, i) =>
      createZoneIn(store, { ...draft, account, id: `other ${i}`, name: "b.example" }, "a"),
    );
    expect((await Promise.all(others)).filter((each) => each === "name-taken")).toHaveLength(1);
  });
});
