import { afterEach, beforeEach, expect, it } from "vitest";
import { writtenSets } from "../../../../test/rig/core/written-sets.suite.ts";
import { createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { plainSettings, type Zone } from "../../model.ts";
import { migrations } from "../../store/sqlite/schema.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/store.ts";
import { longestInCaches } from "./cached-ttl.ts";

const start = Date.UTC(2026, 10, 16);
const soa = "@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300";

let store: SqliteStore;
let zone: Zone;
beforeEach(async () => {
  store = openSqliteStore(":memory:", migrations);
  const { id: account } = await store.ensureAccount("main", 1);
  const sets = setsOf(`${soa}\nwww 60 A 192.0.2.1`);
  const made = await createZoneIn(
    store,
    { account, id: "z", name: "example.org", settings: plainSettings(600), serial: 1, created: start, sets },
    "test",
  );
  if (typeof made === "string") throw new Error(made);
  zone = made;
});
afterEach(() => store.close());

let ids = 0;
const setsOf = (text: string): readonly RRset[] =>
  writtenSets("example.org", text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: `r${ids++}` })),
  }));

/** Writes these sets at `minutes`, and the default TTL. */
async function write(minutes: number, owner: string, text: string, ttl = 600): Promise<void> {
  const request = { account: zone.account, at: { zone: "z" }, owners: () => [owner], actor: "test" };
  const settings = plainSettings(ttl);
  const at = start + minutes * 60_000;
  await writeTo(store, { ...request, now: at }, () => ({ wanted: setsOf(text), settings, result: undefined }));
}

/** In minutes. */
async function longestAt(minutes: number): Promise<number> {
  const now = (await store.zoneNamed("example.org")) ?? zone;
  return (await longestInCaches(store, now, start + minutes * 60_000)) / 60;
}

const day = 24 * 60;

it("caches may have records for the highest TTL in the zone", async () => {
  expect(await longestAt(1)).toBe(60);
  await write(2, "www", "www 86400 A 192.0.2.1");
  expect(await longestAt(3)).toBe(day);
});

it("a TTL that was lowered, or a record that was deleted, counts until caches have dropped it", async () => {
  await write(0, "www", "www 86400 A 192.0.2.1");
  await write(10, "www", "www 60 A 192.0.2.1");
  expect(await longestAt(15)).toBe(day - 5);
  await write(20, "www", "www 172800 A 192.0.2.1");
  await write(30, "www", "");
  expect(await longestAt(40)).toBe(2 * day - 10);
  expect(await longestAt(2 * day)).toBe(60);
});

it("so does the zone's default TTL, with the sets that used it then", async () => {
  await write(0, "a", "a - A 192.0.2.1", 86_400);
  await write(10, "a", "", 86_400);
  await write(20, "b", "", 300);
  expect(await longestAt(30)).toBe(day - 10);
});

it("resolvers keep nothing for more than a week, so older changes are not read", async () => {
  await write(0, "www", "www 2000000000 A 192.0.2.1");
  await write(10, "www", "www 60 A 192.0.2.1");
  expect(await longestAt(day)).toBe(7 * day - (day - 10));
  expect(await longestAt(8 * day)).toBe(60);
});

it("a name that changes every second costs a bounded number of reads", async () => {
  const [change] = await store.historyOf(zone, { limit: 1 });
  if (change === undefined) throw new Error("a change is expected");
  let read = 0;
  const historyOf: SqliteStore["historyOf"] = async (_, { limit }) => {
    read += limit;
    return Array.from({ length: limit }, () => change);
  };
  expect(await longestInCaches({ ...store, historyOf }, zone, start)).toBe(3_600);
  expect(read).toBe(10_000);
});
