import { afterAll, beforeAll, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { plainSettings, type Zone } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordStore } from "../store/port.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { pageOfRecords } from "./page-of-sets.ts";

let store: RecordStore;
const zones: Zone[] = [];
let setsRead = 0;
const counting: Pick<RecordStore, "setsAfter"> = {
  setsAfter: async (...which) => {
    const sets = await store.setsAfter(...which);
    setsRead += sets.length;
    return sets;
  },
};

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  const { id: account } = await store.ensureAccount("main", 1);
  for (const [name, hosts] of [
    ["a.example", 3],
    ["b.example", 1_200],
    ["c.example", 2],
  ] as const) {
    const lines = Array.from({ length: hosts }, (_, i) => `h${i} 60 A 192.0.2.1\nh${i} 60 A 192.0.2.2`).join("\n");
    const sets = writtenSets(name, `@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n${lines}`).map((set) => ({
      ...set,
      records: set.records.map((record) => ({ ...record, id: newRecordId() })),
    }));
    const zone = { account, id: name, name, settings: plainSettings(60), serial: 1, created: 1, sets };
    const made = await createZoneIn(store, zone, "tester");
    if (typeof made === "string") throw new Error(made);
    zones.push(made);
  }
});
afterAll(() => store.close());

const page = async (from: number, to: number) => {
  setsRead = 0;
  const records = await pageOfRecords(counting, zones, { from, to }, async () => undefined);
  return records.map(({ zone, owner, record }) => `${owner}.${zone.name} ${record.rdata}`);
};

it("pages together have every record once, in the order of the list as a whole", async () => {
  const whole = await page(0, Number.POSITIVE_INFINITY);
  expect([whole.length, new Set(whole).size]).toEqual([2 * 1_205 + 3, 2 * 1_205 + 3]);
  const pages: string[] = [];
  for (let from = 0; from < whole.length; from += 97) pages.push(...(await page(from, from + 97)));
  expect(pages).toEqual(whole);
});

it("a page reads what is on it, not the zones before and after it", async () => {
  expect((await page(0, 1)).length).toBe(1);
  expect(setsRead).toBe(1);
  expect((await page(2 * 1_203 + 2, 2 * 1_203 + 4)).length).toBe(2);
  expect(setsRead).toBeLessThanOrEqual(2);
  expect((await page(7, 9)).length).toBe(2);
  expect(setsRead).toBeLessThanOrEqual(2);
  expect(await page(5_000, 5_001)).toEqual([]);
  expect(setsRead).toBe(0);
});
