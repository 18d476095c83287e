import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aSet } from "../../test/rig/records/a-set.ts";
import { dropZone } from "../../test/rig/records/drop-zone.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";
import { emptyZoneView, placeSets, setsOfView, type ZoneView, zoneViewSteps } from "../core/records/zone-view.ts";
import { finish } from "../core/steps.ts";
import { noLog } from "../process/log.ts";
import { plainSettings } from "../records/model.ts";
import { newRecordId } from "../records/new-id.ts";
import { openSqliteStore, type SqliteStore } from "../records/store/sqlite/store.ts";
import { openCatalog } from "./catalog.ts";
import { zonesFromStore } from "./zones.ts";

let store: SqliteStore;
let account: number;
let folder: string;
beforeEach(async () => {
  store = openSqliteStore(":memory:");
  account = (await store.ensureAccount("main", 1)).id;
  folder = mkdtempSync(join(tmpdir(), "moor-asked-"));
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

async function create(name: string, hosts = 1): Promise<void> {
  const soa = { ...aSet("@", "ns1.example. hostmaster.example. 1 7200 900 1209600 300"), type: "SOA" as const };
  const sets = [soa, ...Array.from({ length: hosts }, (_, i) => aSet(`h${i}`, "192.0.2.1"))].map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));
  const zone = { account, id: name, name, settings: plainSettings(60), serial: 1, created: 1, sets };
  await createZoneIn(store, zone, "test");
}

const open = () =>
  zonesFromStore(store, { nameservers: [], catalog: "catalog.example", dataFolder: folder, log: noLog });

it("are those that were asked for before the restart, the latest first, then large ones and the catalog", async () => {
  for (const name of ["one.example", "two.example", "three.example", "unasked.example"]) await create(name);
  await create("large.example", 1_001);
  const before = await open();
  for (const name of ["one.example", "three.example", "two.example", "catalog.example"]) before.noteUse(name);
  before.noteUse("one.example");
  before.noteUse("deleted.example");
  await before.close();
  const zones = await open();
  const expected = await zones.expected();
  await zones.close();
  expect(expected.map(({ name, wasAsked }) => [name, wasAsked])).toEqual([
    ["one.example", true],
    ["catalog.example", true],
    ["two.example", true],
    ["three.example", true],
    ["large.example", false],
  ]);
  expect(expected.find(({ name }) => name === "large.example")?.records).toBe(1_002);
});

describe("a catalog", () => {
  it("is read in parts, with what is created and deleted meanwhile", async () => {
    for (let i = 0; i < 1_100; i++) await create(`z${i}.example`, 0);
    let [parts, begun]: [number, ZoneView | undefined] = [0, undefined];
    const catalog = openCatalog(store, "catalog.example", 0);
    const meanwhile = async () => {
      parts += 1;
      if (parts !== 2) return;
      await create("new.example", 0);
      await dropZone(store, account, { name: "z7.example" }, 1);
    };
    const content = await catalog.load(meanwhile, (zone) => {
      const view = emptyZoneView(zone);
      begun = view;
      return (sets) => placeSets(view, sets);
    });
    const members = [...setsOfView(finish(zoneViewSteps(content, begun)))].filter(({ set }) => set.type === "PTR");
    expect(parts).toBeGreaterThan(2);
    expect(content.sets.length).toBeLessThan(10);
    expect(members.length).toBe(1_100);
    expect(content.serial).toBe((await store.lastChange()) + 1);
  });
});
