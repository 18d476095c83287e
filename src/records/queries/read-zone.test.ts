import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aSet } from "../../../test/rig/records/a-set.ts";
import { dropZone } from "../../../test/rig/records/drop-zone.ts";
import { createZoneIn, writeTo } from "../../../test/rig/store/write.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { largeZone, plainSettings, type Zone } from "../model.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";
import { readZone } from "./read-zone.ts";

let store: SqliteStore;
let zone: Zone;
const size = 3 * largeZone;
const soa: RRset = {
  owner: "@",
  type: "SOA",
  ttl: null,
  records: [
    { ...aSet("@", "x").records[0], id: "soa", rdata: "ns1. h. 1 2 3 4 5", value: "ns1. h. 1 2 3 4 5" },
  ] as never,
};

beforeEach(async () => {
  store = openSqliteStore(":memory:");
  const { id: account } = await store.ensureAccount("main", 1);
  const sets = [soa, ...Array.from({ length: size }, (_, i) => aSet(`h${i}`, "192.0.2.1"))];
  const made = { account, id: "z", name: "z.example", settings: plainSettings(60), serial: 1, created: 1, sets };
  zone = (await createZoneIn(store, made, "test")) as Zone;
});
afterEach(() => store.close());

const put = (owner: string, ...sets: readonly RRset[]) =>
  writeTo(
    store,
    { account: zone.account, at: { zone: "z" }, owners: () => [owner], actor: "test", now: Date.now() },
    () => ({ wanted: sets, result: undefined }),
  );
const byKey = (sets: readonly RRset[]) => new Map(sets.map((set) => [`${set.owner} ${set.type}`, set]));

describe("a large zone", () => {
  it("is read in parts, with a pause before each", async () => {
    let pauses = 0;
    const sets = await readZone(store, zone, async () => {
      pauses += 1;
    });
    expect(sets).toHaveLength(size + 1);
    expect(pauses).toBeGreaterThan(5);
  });

  it("is read in turn with other work, if nothing else is said", async () => {
    let isOther = false;
    setImmediate(() => {
      isOther = true;
    });
    await readZone(store, zone);
    expect(isOther).toBe(true);
  });

  it("is consistent, whatever is written between the parts", async () => {
    const writes = [
      () => put("h0", aSet("h0", "198.51.100.1")),
      () => put("h1"),
      () => put("zz", aSet("zz", "198.51.100.2")),
      () => put("0", aSet("0", "198.51.100.3")),
      () => put("zz", aSet("zz", "198.51.100.4")),
      () => put("0"),
    ];
    const sets = await readZone(store, zone, async () => {
      await writes.shift()?.();
    });
    expect(writes).toEqual([]);
    const now = await store.zone(zone.account, "z");
    expect(now?.serial).not.toBe(zone.serial);
    expect(byKey(sets)).toEqual(byKey(await store.sets(now ?? zone, {})));
  });

  it("is empty if it was deleted in the meantime", async () => {
    let pauses = 0;
    const sets = await readZone(store, zone, async () => {
      pauses += 1;
      if (pauses === 3) await dropZone(store, zone.account, { name: zone.name }, 2);
    });
    expect(sets).toEqual([]);
  });
});
