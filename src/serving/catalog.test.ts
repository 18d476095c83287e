import { expect, it, onTestFinished } from "vitest";
import { applyChanges } from "../../test/rig/core/apply-changes.ts";
import { aSet } from "../../test/rig/records/a-set.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";
import { setKey } from "../core/records/rrset.ts";
import type { ServedSet } from "../core/records/zone-view.ts";
import { plainSettings } from "../records/model.ts";
import { openSqliteStore } from "../records/store/sqlite/store.ts";
import { catalogContent, createCatalogLog, memberChange, openCatalog } from "./catalog.ts";

const member = (id: number) => ({ id, zone: `z${id}.example` });
const came = (id: number) => memberChange("create", member(id));
const went = (id: number) => memberChange("delete", member(id));
const keys = (sets: ReturnType<typeof applyChanges>) => sets.map((set) => setKey(set.owner, set.type)).sort();

it("follows RFC 9432: version 2, one PTR record per zone, an NS record for `invalid.`", () => {
  const { sets, serial } = catalogContent("catalog.example", 7, [member(1), member(2)]);
  expect(serial).toBe(7);
  expect(sets.map((set) => `${set.owner} ${set.type} ${set.records[0]?.rdata}`)).toEqual([
    "@ SOA invalid. invalid. 7 60 30 1209600 60",
    "@ NS invalid.",
    'version TXT "2"',
    "z1.zones PTR z1.example.",
    "z2.zones PTR z2.example.",
  ]);
});

it("a changed catalog is the same as one built from scratch", () => {
  const before = catalogContent("catalog.example", 1, [member(1), member(2)]).sets;
  const after = catalogContent("catalog.example", 1, [member(2), member(3)]).sets;
  expect(keys(applyChanges(before, [came(3), went(1)]))).toEqual(keys(after));
});

it("the catalog's log knows the latest changes, up to its limit", () => {
  const log = createCatalogLog(10, 3);
  log.add(12, [came(1)]);
  log.add(15, [came(2), came(3)]);
  expect(log.between(9, 15)).toBeUndefined();
  expect(log.between(10, 15)).toEqual([came(1), came(2), came(3)]);
  expect(log.between(13, 15)).toEqual([came(2), came(3)]);
  expect(log.between(10, 12)).toEqual([came(1)]);
  expect(log.between(15, 99)).toEqual([]);
  log.add(20, [went(1)]);
  expect(log.between(10, 20)).toBeUndefined();
  expect(log.between(15, 20)).toEqual([went(1)]);
});

it("the catalog's log accepts more changes in one write than fit on the stack", () => {
  const log = createCatalogLog(10, 3);
  log.add(
    12,
    Array.from({ length: 200_000 }, () => came(1)),
  );
  expect(log.between(10, 12)).toBeUndefined();
});

it("does not list zones of its own name or below, which it hides", async () => {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store.close());
  const account = (await store.ensureAccount("main", 1)).id;
  const names = ["catalog.example", "x.catalog.example", "mycatalog.example"];
  for (const name of names) {
    const sets = [{ ...aSet("@", `${name}. 1`), type: "SOA" as const }];
    const zone = { account, id: name, name, settings: plainSettings(60), serial: 1, created: 1, sets };
    expect(await createZoneIn(store, zone, "tester")).toMatchObject({ name });
  }
  const catalog = openCatalog(store, "catalog.example", 0);
  const targets = (sets: readonly ServedSet[]) =>
    sets.filter((set) => set.type === "PTR").map((set) => set.records[0]?.rdata);
  expect(targets((await catalog.load(async () => {})).sets)).toEqual(["mycatalog.example."]);
  const events = catalog.eventsOf(await store.changesAfter(0, 99));
  const changes = events.flatMap((event) => (event.kind === "changed" ? event.changes : []));
  expect(targets(changes.flatMap((change) => change.after ?? []))).toEqual(["mycatalog.example."]);
});
