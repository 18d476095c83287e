import { afterEach, beforeEach, expect, it } from "vitest";
import { writtenSets } from "../../test/rig/core/written-sets.suite.ts";
import { aSet } from "../../test/rig/records/a-set.ts";
import { createZoneIn, writeTo } from "../../test/rig/store/write.ts";
import {
  emptyZoneView,
  placeSets,
  setsOfView,
  wireOf,
  type ZoneView,
  zoneViewSteps,
} from "../core/records/zone-view.ts";
import { finish } from "../core/steps.ts";
import type { ZoneEvent } from "../nameserver/answer/zone-source.ts";
import { createLog } from "../process/log.ts";
import { type LoggedRow, plainSettings } from "../records/model.ts";
import type { ChangeListener, RecordStore } from "../records/store/port.ts";
import { openSqliteStore, type SqliteStore } from "../records/store/sqlite/store.ts";
import { zonesFromStore } from "./zones.ts";

const log = createLog({ format: "text", level: "silent", write: () => {} });
const size = 3_000;
let store: SqliteStore;
let account: number;
beforeEach(async () => {
  store = openSqliteStore(":memory:");
  account = (await store.ensureAccount("main", 1)).id;
  const head = writtenSets("z.example", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1.example.net.");
  const named = head.map((set) => ({ ...set, records: set.records.map((each) => ({ ...each, id: set.type })) }));
  const sets = [...named, ...Array.from({ length: size }, (_, i) => aSet(`h${i}`, "192.0.2.1"))];
  const settings = plainSettings(60);
  await createZoneIn(store, { account, id: "z", name: "z.example", settings, serial: 1, created: 1, sets }, "test");
});
afterEach(() => store.close());

it("loads a large zone in parts, current as of the last one", async () => {
  let parts = 0;
  const whole: string[] = [];
  const watched: RecordStore = {
    ...store,
    sets: async (zone, query) => {
      if (query.owner === undefined) whole.push(zone.name);
      return await store.sets(zone, query);
    },
    setsAfter: async (zone, after, limit) => {
      parts += 1;
      const page = await store.setsAfter(zone, after, limit);
      const request = { account, at: { zone: "z" }, owners: () => ["h0"], actor: "test", now: Date.now() };
      const value = `198.51.100.${parts}`;
      await writeTo(store, request, () => ({ wanted: [aSet("h0", value)], result: undefined }));
      return page;
    },
  };
  const zones = await zonesFromStore(watched, { nameservers: ["ns1.example.net"], log });
  let begun: ZoneView | undefined;
  const content = await zones.load("z.example", (zone) => {
    const view = emptyZoneView(zone);
    begun = view;
    return (sets) => placeSets(view, sets);
  });
  await zones.close();
  expect(content?.sets).toEqual([]);
  const shown = content ? [...setsOfView(finish(zoneViewSteps(content, begun)))] : [];
  const now = await store.zone(account, "z");
  expect(whole).toEqual([]);
  expect(parts).toBeGreaterThan(size / 1_000);
  expect(shown).toHaveLength(size + 2);
  const [h0] = shown.filter(({ name }) => name[0] === "h0");
  expect(h0 && [...(wireOf(h0.set)[0] ?? [])]).toEqual([198, 51, 100, parts]);
  expect(content?.serial).toBe(now?.serial);
});

it.each([
  { changes: 1_000, event: "changed" },
  { changes: 1_001, event: "replaced" },
])("reports $changes changes in one write to the nameserver as $event", async ({ changes, event }) => {
  const zones = await zonesFromStore(store, { nameservers: ["ns1.example.net"], log });
  const reported: string[] = [];
  zones.follow(({ kind }) => void reported.push(kind));
  const owners = Array.from({ length: changes }, (_, i) => `h${i}`);
  const request = { account, at: { zone: "z" }, owners: () => owners, actor: "test", now: Date.now() };
  const wanted = owners.map((owner) => aSet(owner, "198.51.100.1"));
  await writeTo(store, request, () => ({ wanted, result: undefined }));
  await zones.close();
  expect(reported).toEqual(["written", event, "reported"]);
});

it("reports what DNS shows of a change, and nothing else", async () => {
  const zones = await zonesFromStore(store, { nameservers: ["ns1.example.net"], log });
  const reported: ZoneEvent[] = [];
  zones.follow((event) => void reported.push(event));
  const request = { account, at: { zone: "z" }, owners: () => ["www"], actor: "test", now: Date.now() };
  await writeTo(store, request, () => ({ wanted: [aSet("www", "198.51.100.1")], result: undefined }));
  await zones.close();
  const after = { owner: "www", type: "A", ttl: aSet("www", "").ttl, records: [{ rdata: "198.51.100.1" }] };
  expect(reported.flatMap((event) => (event.kind === "changed" ? event.changes : []))).toEqual([
    { kind: expect.stringMatching(/create|replace/), owner: "www", type: "A", after },
  ]);
});

it("reports writes that were signed together as one change, which can be validated", async () => {
  let tell: ChangeListener = () => undefined;
  const onChange = (listener: ChangeListener) => {
    tell = listener;
    return () => undefined;
  };
  const zones = await zonesFromStore({ ...store, onChange }, { nameservers: ["ns1.example.net"], log });
  const reported: unknown[] = [];
  zones.follow((event) => {
    if (event.kind === "changed") reported.push([event.zone, event.serial, event.changes.map(({ owner }) => owner)]);
  });
  const start = await store.lastChange();
  const signature = { owner: "a", type: "TYPE46", before: null, after: { ttl: 60, values: [] } };
  const signatures = { kind: "signatures", sets: [signature] };
  const set = (owner: string) => ({ kind: "replace", owner, type: "A", before: null, after: aSet(owner, "192.0.2.7") });
  const rows = [
    { zone: 1, zoneName: "z.example", serial: 2, change: set("a") },
    { zone: 1, zoneName: "z.example", serial: 3, change: set("b") },
    { zone: 1, zoneName: "z.example", serial: 3, change: signatures },
    { zone: 2, zoneName: "y.example", serial: 8, change: set("c") },
    { zone: 2, zoneName: "y.example", serial: 9, change: set("d") },
    { zone: 1, zoneName: "z.example", serial: 4, change: set("e") },
    { zone: 1, zoneName: "z.example", serial: 4, change: signatures },
  ];
  tell(rows.map((row, i) => ({ ...row, position: start + 1 + i }) as LoggedRow));
  await zones.close();
  expect(reported).toEqual([
    ["z.example", 3, ["a", "b", "a"]],
    ["y.example", 8, ["c"]],
    ["y.example", 9, ["d"]],
    ["z.example", 4, ["e", "a"]],
  ]);
});
