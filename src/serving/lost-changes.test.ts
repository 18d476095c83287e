import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writtenSets } from "../../test/rig/core/written-sets.suite.ts";
import { aSet } from "../../test/rig/records/a-set.ts";
import { type PostgresRig, startPostgresRig } from "../../test/rig/records/postgres.ts";
import { saveStandby, standbyTakesOver } from "../../test/rig/records/standby.ts";
import { createZoneIn, writeTo } from "../../test/rig/store/write.ts";
import { until } from "../../test/rig/until.ts";
import { compareSerials } from "../core/records/serial.ts";
import { setsOfView, wireOf } from "../core/records/zone-view.ts";
import { followZones } from "../nameserver/answer/followed-zones.ts";
import { keyOfName } from "../nameserver/answer/name-key.ts";
import { noLog } from "../process/log.ts";
import { plainSettings, type Zone } from "../records/model.ts";
import type { RecordStore } from "../records/store/port.ts";
import type { PostgresStore } from "../records/store/postgres/store.ts";
import { type StoreZones, zonesFromStore } from "./zones.ts";

type Node = {
  readonly store: PostgresStore;
  readonly zones: StoreZones;
  /** The addresses of a zone by owner, and its serial, as DNS shows them. */
  readonly shows: (zone: string) => Promise<{ readonly serial: number; readonly sets: readonly string[] } | undefined>;
  readonly close: () => Promise<void>;
};

let rig: PostgresRig;
let url: string;
let client: pg.Client;
let nodes: readonly [Node, Node];
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  url = await rig.preparedUrl();
  client = await rig.server.connect(new URL(url).pathname.slice(1));
  await start();
  await create("lost.example");
  await create("calm.example");
});
afterEach(async () => {
  await stop();
  await client.end();
});

const folder = mkdtempSync(join(tmpdir(), "moor-lost-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const places = () => [0, 1].map((i) => join(folder, `${new URL(url).pathname.slice(1)}-${i}`));
const stop = async () => {
  for (const node of nodes) await node.close();
};
const start = async () => {
  for (const place of places()) mkdirSync(place, { recursive: true });
  const [one = "", two = ""] = places();
  nodes = [await openNode(one), await openNode(two)];
};

async function openNode(dataFolder: string): Promise<Node> {
  const store = await rig.open(url);
  const zones = await zonesFromStore(store as unknown as RecordStore, {
    nameservers: ["ns1.example.net"],
    catalog: "catalog.example",
    dataFolder,
    mayLose: true,
    log: noLog,
  });
  const { zones: loaded, unfollow } = followZones(zones, { seed: 1, onTrouble: () => undefined });
  return {
    store,
    zones,
    shows: async (zone) => {
      const view = (await loaded.find(keyOfName(zone)))?.view;
      if (view === undefined) return undefined;
      const sets = [...setsOfView(view)].flatMap(({ name, set }) =>
        set.type === "A" ? wireOf(set).map((wire) => `${name[0]} ${[...wire].join(".")}`) : [],
      );
      return { serial: view.serial, sets: sets.toSorted() };
    },
    close: async () => {
      unfollow();
      await zones.close();
      await store.close();
    },
  };
}

async function create(name: string, store: PostgresStore = nodes[0].store): Promise<void> {
  const account = (await store.ensureAccount("main", 1)).id;
  const head = writtenSets(name, "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300");
  const sets = head.map((set) => ({ ...set, records: set.records.map((each) => ({ ...each, id: `soa ${name}` })) }));
  const made = { account, id: name, name, settings: plainSettings(60), serial: 1, created: 1, sets };
  expect(await createZoneIn(store, made, "test")).toMatchObject({ name });
}

/** All at one moment, so that only their history tells writes apart. */
const now = Date.UTC(2026, 10, 18);

async function write(store: PostgresStore, owner: string, address: string, zone = "lost.example"): Promise<Zone> {
  const found = await store.zoneHolding(zone);
  if (found === undefined) throw new Error("no zone");
  const request = { account: found.account, at: { zone: found.id }, owners: () => [owner], actor: "test", now };
  await writeTo(store, request, () => ({ wanted: [aSet(owner, address)], result: undefined }));
  return (await store.zoneHolding(zone)) ?? found;
}

const save = () => saveStandby(client);
const goBack = () => standbyTakesOver(client);

const stored = async (store: PostgresStore, name = "lost.example") => {
  const zone = await store.zoneHolding(name);
  const sets = zone === undefined ? [] : await store.sets(zone, {});
  return {
    serial: zone?.serial,
    sets: sets
      .flatMap(({ type, owner, records }) => (type === "A" ? records.map((each) => `${owner} ${each.value}`) : []))
      .toSorted(),
  };
};

async function agree(...zones: readonly string[]): Promise<void> {
  let seen: readonly string[] = [];
  const isShown = async (zone: string) => {
    const texts = [await stored(nodes[0].store, zone), await nodes[0].shows(zone), await nodes[1].shows(zone)];
    seen = texts.map((text) => JSON.stringify(text));
    return new Set(seen).size === 1;
  };
  await until(
    async () => {
      if (nodes.some((node) => node.zones.lostChanges.pending() > 0)) return false;
      for (const zone of zones) if (!(await isShown(zone))) return false;
      return nodes.every((node) => node.zones.lostChanges.pending() === 0);
    },
    { what: () => `the nodes to show what is stored: ${seen.join(", ")}` },
  );
}

describe("a database that has lost changes while nodes were down, or before they were started again", () => {
  /** Writes that DNS has shown. Returns what was sent. */
  const writeThree = async () => {
    for (const i of [1, 2, 3]) await write(nodes[0].store, `lost${i}`, `198.51.100.${i}`);
    await agree("lost.example", "calm.example");
    const catalog = (await nodes[0].zones.load("catalog.example"))?.serial ?? 0;
    return { serial: (await nodes[0].shows("lost.example"))?.serial ?? 0, catalog };
  };
  const expectNewer = async (sent: { readonly serial: number; readonly catalog: number }) => {
    await agree("lost.example", "calm.example");
    const serial = (await nodes[0].shows("lost.example"))?.serial ?? 0;
    expect(compareSerials(serial, sent.serial)).toBe(1);
    for (const { zones } of nodes)
      expect(await zones.changesBetween("lost.example", sent.serial, serial)).toBeUndefined();
    expect(compareSerials((await nodes[0].zones.load("catalog.example"))?.serial ?? 0, sent.catalog)).toBe(1);
  };
  beforeEach(async () => {
    await agree("lost.example", "calm.example");
    await save();
  });

  it.for([
    ["and nothing else happened", 0],
    ["and more was written since", 5],
  ] as const)("while all nodes were down, %s", async ([, count]) => {
    const sent = await writeThree();
    await stop();
    await goBack();
    const other = await rig.open(url);
    for (let i = 0; i < count; i++) await write(other, `new${i}`, `203.0.113.${i}`);
    await other.close();
    await start();
    await expectNewer(sent);
  });

  it("after they were started again, and nobody has asked for the zone since", async () => {
    const sent = await writeThree();
    await stop();
    await start();
    await goBack();
    for (const { zones } of nodes)
      await until(() => zones.lostChanges.count() === 1, { what: () => "a node to notice that changes are lost" });
    await expectNewer(sent);
  });

  it("after a node was killed, and a standby took over that has the last place that the node noted", async () => {
    const sent = await writeThree();
    await stop();
    for (const place of places()) {
      const file = join(place, "records-log-place.json");
      const noted = JSON.parse(readFileSync(file, "utf8")) as object;
      writeFileSync(file, JSON.stringify({ ...noted, timeline: "00000000", isLast: false }));
    }
    await start();
    expect(nodes.map(({ zones }) => zones.lostChanges.count())).toEqual([1, 1]);
    await expectNewer(sent);
  });

  it("is not one whose oldest changes were dropped while nodes were down", async () => {
    const { serial } = await writeThree();
    await stop();
    const other = await rig.open(url);
    for (const i of [1, 2, 3]) await write(other, `new${i}`, `203.0.113.${i}`);
    await other.close();
    await client.query("DELETE FROM changes WHERE position < (SELECT max(position) FROM changes)");
    await start();
    await agree("lost.example", "calm.example");
    expect(nodes.map(({ zones }) => zones.lostChanges.count())).toEqual([0, 0]);
    expect((await nodes[0].shows("lost.example"))?.serial).toBe(serial + 3);
  });
});

describe("a database that has lost changes beneath two running nodes", () => {
  const [one, two] = [() => nodes[0], () => nodes[1]];

  it.for([
    ["and nothing else happened", async () => undefined],
    [
      "and as much was written by others since",
      async (other: PostgresStore) => {
        for (const i of [1, 2, 3]) await write(other, `new${i}`, `203.0.113.${i}`);
      },
    ],
    [
      "and more was written by others since",
      async (other: PostgresStore) => {
        for (const i of [1, 2, 3, 4, 5]) await write(other, `new${i}`, `203.0.113.${i}`);
      },
    ],
    [
      "and a node that has not noticed it writes next",
      async () => {
        await write(one().store, "new1", "203.0.113.1");
      },
    ],
  ] as const)("%s", async ([, meanwhile]) => {
    await write(one().store, "kept", "192.0.2.1");
    await write(one().store, "calm", "192.0.2.1", "calm.example");
    await agree("lost.example", "calm.example");
    await save();
    const sent: number[] = [];
    for (const i of [1, 2, 3]) sent.push((await write(one().store, `lost${i}`, `198.51.100.${i}`)).serial);
    await agree("lost.example", "calm.example");
    const catalogBefore = await one().zones.load("catalog.example");
    const other = await rig.open(url);
    await goBack();
    await meanwhile(other);
    for (const { zones } of nodes)
      await until(() => zones.lostChanges.count() === 1, { what: () => "a node to notice that changes are lost" });
    await agree("lost.example", "calm.example");

    const shown = await one().shows("lost.example");
    expect(shown?.sets).toContain("kept 192.0.2.1");
    expect(shown?.sets.join()).not.toContain("lost");
    for (const serial of sent) expect(compareSerials(shown?.serial ?? 0, serial)).toBe(1);
    for (const { zones } of nodes)
      for (const from of sent)
        expect(await zones.changesBetween("lost.example", from, shown?.serial ?? 0)).toBeUndefined();
    const catalog = await one().zones.load("catalog.example");
    expect(compareSerials(catalog?.serial ?? 0, catalogBefore?.serial ?? 0)).toBe(1);

    // Each node raises the serials that it has sent: while the second one does, the whole zone is sent once more.
    await until(
      async () => {
        await agree("lost.example", "calm.example");
        const before = (await one().shows("lost.example"))?.serial ?? 0;
        const later = await write(two().store, `later${before}`, "192.0.2.9");
        await agree("lost.example", "calm.example");
        return (await one().zones.changesBetween("lost.example", before, later.serial))?.length === 1;
      },
      { what: () => "an incremental transfer of the new history" },
    );
    expect((await two().shows("lost.example"))?.sets.join()).toContain("192.0.2.9");
    await other.close();
  });

  it("is not one whose standby was up to date: nothing is sent again", async () => {
    const { serial } = await write(one().store, "kept", "192.0.2.1");
    await agree("lost.example", "calm.example");
    await save();
    await goBack();
    const later = await write(two().store, "later", "192.0.2.9");
    await agree("lost.example", "calm.example");
    expect(nodes.map(({ zones }) => zones.lostChanges.count())).toEqual([0, 0]);
    expect((await one().shows("lost.example"))?.serial).toBe(serial + 1);
    for (const { zones } of nodes)
      expect(await zones.changesBetween("lost.example", serial, later.serial)).toHaveLength(1);
  });

  it("and one change was undone by SQL, and another was written", async () => {
    await write(one().store, "kept", "192.0.2.1");
    await agree("lost.example");
    await save();
    const { serial } = await write(one().store, "undone", "198.51.100.1");
    await agree("lost.example");
    await goBack();
    await write(one().store, "written", "203.0.113.1");
    await agree("lost.example");
    const shown = await two().shows("lost.example");
    expect(shown?.sets).toEqual(["kept 192.0.2.1", "written 203.0.113.1"]);
    expect(compareSerials(shown?.serial ?? 0, serial)).toBe(1);
  });

  it("with a zone that was created since: it gets a newer serial when it is created again", async () => {
    await save();
    await create("gone.example");
    const { serial } = await write(one().store, "www", "198.51.100.1", "gone.example");
    await agree("gone.example");
    expect((await one().shows("gone.example"))?.serial).toBe(serial);
    await goBack();
    for (const { zones } of nodes)
      await until(() => zones.lostChanges.count() === 1, { what: () => "a node to notice that changes are lost" });
    await until(async () => (await one().shows("gone.example")) === undefined, { what: () => "the zone to be gone" });
    await create("gone.example", two().store);
    await until(async () => compareSerials((await one().shows("gone.example"))?.serial ?? 0, serial) === 1, {
      what: () => "a newer serial",
    });
    await agree("gone.example");
  });
});
