import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { aSet, at } from "../../../../test/rig/records/a-set.ts";
import { actOn, createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import { plainSettings } from "../../model.ts";
import type { WriteRequest } from "../port.ts";
import { openSqliteStore, type SqliteStore } from "./store.ts";

let folder: string;
let store: SqliteStore;
let account: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-large-"));
  // In memory there is only one connection, and a large write is done in one piece.
  store = openSqliteStore(join(folder, "records.sqlite"));
  account = (await store.ensureAccount("main", at)).id;
  for (const name of ["one", "two"]) {
    const zone = { account, id: name, name: `${name}.example`, settings: plainSettings(60), created: at };
    await createZoneIn(store, { ...zone, serial: 1, sets: [] }, "tester");
  }
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const many = (value: string) => Array.from({ length: 5_000 }, (_, i) => aSet(`h${i}`, `${value}-${i}`));
const request = (zone: string, owners: WriteRequest["owners"]): WriteRequest => ({
  account,
  at: { zone },
  owners,
  actor: "tester",
  now: at,
});
const large = (value: string) => writeTo(store, request("one", "all"), () => ({ wanted: many(value), result: value }));
const small = (owner: string) =>
  writeTo(
    store,
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

/** Whether a connection is writing. */
function isLocked(): boolean {
  const other = new DatabaseSync(join(folder, "records.sqlite"), { timeout: 0 });
  try {
    other.exec("BEGIN IMMEDIATE");
    return false;
  } catch {
    return true;
  } finally {
    other.close();
  }
}

it("a large write gives way to other requests while it is written, and they read the state before it", async () => {
  const serials = [];
  let isDone = false;
  const first = large("x").finally(() => {
    isDone = true;
  });
  while (!isDone) {
    if (isLocked()) serials.push((await store.zone(account, "one"))?.serial);
    await new Promise(setImmediate);
  }
  await first;
  expect([...new Set(serials)]).toEqual([1]);
});

it("a large write gives way to other requests even if its zone changes all the time", async () => {
  let [isDone, gaveWay] = [false, false];
  const first = large("x").finally(() => {
    isDone = true;
  });
  const others = [];
  for (let i = 0; !isDone; i++) {
    const decide = () => ({ wanted: [aSet("h0", `small-${i}`)], result: i });
    if (isLocked()) gaveWay = true;
    else
      others.push(
        writeTo(
          store,
          request("one", () => ["h0"]),
          decide,
        ),
      );
    await new Promise(setImmediate);
  }
  await Promise.all([first, ...others]);
  expect(gaveWay).toBe(true);
});

it.each([
  { when: "it is planned", isTime: () => true },
  { when: "it is written", isTime: isLocked },
])("a large write is rolled back if the store is closed while $when", async ({ isTime }) => {
  const first = large("x").catch((error: Error) => error.message);
  do await new Promise(setImmediate);
  while (!isTime());
  store.close();
  expect(await first).toBe("the store is closed");
  store = openSqliteStore(join(folder, "records.sqlite"));
  expect(await store.zone(account, "one")).toMatchObject({ serial: 1, recordCount: 0 });
  expect(await large("y")).toBe("y");
});

it("a large write is done once if it is requested twice with the same key, for different zones", async () => {
  const idempotencyKey = { key: "k", fingerprint: "f" };
  const act = (number: number, value: string) =>
    actOn(store, { account, at: { number }, owners: "all", actor: "tester", now: at, idempotencyKey }, () => ({
      wanted: many(value),
      actionName: "import",
      result: value,
    }));
  const answers = await Promise.all([act(1, "x"), act(2, "y")]);
  expect(answers[0]).toEqual(answers[1]);
  const counts = await Promise.all(["one", "two"].map(async (id) => (await store.zone(account, id))?.recordCount));
  expect(counts.toSorted((a = 0, b = 0) => a - b)).toEqual([0, 5_000]);
});

it("does two large writes to one zone one after the other, with a gapless log", async () => {
  await Promise.all([large("x"), large("y")]);
  const log = await store.changesAfter(0, 99_999);
  expect(log.map(({ serial, change }) => `${serial} ${change.kind}`)).toEqual([
    ...many("").map(() => `${log[0]?.serial} create`),
    ...many("").map(() => `${(log[0]?.serial ?? 0) + 1} replace`),
  ]);
  const sets = await store.sets(anyZone(), {});
  const last = log.at(-1)?.change;
  const value = last?.kind === "replace" ? last.after.records[0]?.rdata[0] : undefined;
  expect(new Set(sets.map((set) => set.records[0]?.rdata[0]))).toEqual(new Set([value]));
});

it("writes nothing of a large write whose record ids are taken, and accepts the next one", async () => {
  await writeTo(
    store,
    request("two", () => ["h9"]),
    () => ({ wanted: [aSet("h9", "x-9")], result: 0 }),
  );
  await expect(large("x")).rejects.toThrow("UNIQUE");
  expect(await store.zone(account, "one")).toMatchObject({ serial: 1, recordCount: 0 });
  expect(await large("z")).toBe("z");
  expect(await store.zone(account, "one")).toMatchObject({ recordCount: 5_000 });
});

const anyZone = () => ({
  number: 1,
  id: "one",
  account,
  name: "one.example",
  settings: plainSettings(60),
  serial: 1,
  recordCount: 0,
  created: at,
  modified: at,
});
