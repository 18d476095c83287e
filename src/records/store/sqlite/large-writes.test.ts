import { afterEach, beforeEach, expect, it } from "vitest";
import { aSet, at } from "../../../../test/rig/records/a-set.ts";
import { plainSettings } from "../../model.ts";
import type { WriteRequest } from "../port.ts";
import { openSqliteStore, type SqliteStore } from "./store.ts";

let store: SqliteStore;
let account: number;
beforeEach(async () => {
  store = openSqliteStore(":memory:");
  account = (await store.ensureAccount("main", at)).id;
  for (const name of ["one", "two"]) {
    const zone = { account, id: name, name: `${name}.example`, settings: plainSettings(60), created: at };
    await store.createZone({ ...zone, serial: 1, sets: [] }, "tester");
  }
});
afterEach(() => store.close());

const many = (value: string) => Array.from({ length: 5_000 }, (_, i) => aSet(`h${i}`, `${value}-${i}`));
const request = (zone: string, owners: WriteRequest["owners"]): WriteRequest => ({
  ...{ account, at: { zone }, owners, actor: "tester", now: at },
});
const large = (value: string) => store.write(request("one", "all"), () => ({ wanted: many(value), result: value }));
const small = (owner: string) =>
  store.write(
    request("two", () => [owner]),
    () => ({ wanted: [aSet(owner, "1")], result: owner }),
  );

it("lets later writes overtake a large one", async () => {
  const done: string[] = [];
  const note = (result: string | undefined) => void done.push(result ?? "");
  const first = large("large").then(note);
  await new Promise(setImmediate);
  const others = [];
  for (const owner of ["a", "b", "c"]) {
    others.push(small(owner).then(note));
    await new Promise(setImmediate);
  }
  await Promise.all([first, ...others]);
  expect(done).toEqual(["a", "b", "c", "large"]);
});

it("never shows part of a large write", async () => {
  const counts = new Set<number | undefined>();
  let isDone = false;
  const first = large("x").finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const [zone, sets] = [await store.zone(account, "one"), await store.sets(anyZone(), {})];
    counts.add(zone?.recordCount).add(sets.length);
    await new Promise(setImmediate);
  }
  await first;
  expect([...counts].filter((count) => count !== 0 && count !== 5_000)).toEqual([]);
  expect(await store.sets(anyZone(), {})).toHaveLength(5_000);
});

it("does two large writes to one zone one after the other, with a gapless log", async () => {
  await Promise.all([large("x"), large("y")]);
  const log = await store.changesAfter(0, 99_999);
  expect(log.map(({ serial, change }) => `${serial} ${change.kind}`)).toEqual([
    ...many("x").map(() => `${log[0]?.serial} create`),
    ...many("y").map(() => `${(log[0]?.serial ?? 0) + 1} replace`),
  ]);
  expect((await store.record(account, "h7-x-7")) ?? (await store.record(account, "h7-y-7"))).toMatchObject({
    record: { rdata: "y-7" },
  });
});

it("writes nothing of a large write whose record ids are taken, and accepts the next one", async () => {
  await store.write(
    request("two", () => ["h9"]),
    () => ({ wanted: [aSet("h9", "x-9")], result: 0 }),
  );
  await expect(large("x")).rejects.toThrow("UNIQUE");
  expect(await store.zone(account, "one")).toMatchObject({ serial: 1, recordCount: 0 });
  expect(await large("z")).toBe("z");
  expect(await store.zone(account, "one")).toMatchObject({ recordCount: 5_000 });
});

const anyZone = () => ({
  ...{ number: 1, id: "one", account, name: "one.example", settings: plainSettings(60), serial: 1 },
  ...{ recordCount: 0, created: at, modified: at },
});
