import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aSet } from "../../../test/rig/records/a-set.ts";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { wholeAccount } from "../../core/may.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { largeZone, plainSettings } from "../model.ts";
import { createRecordService, type RecordService } from "../service.ts";
import type { SetPageQuery } from "../store/port.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";
import type { Actor } from "./permitted-view.ts";

let store: SqliteStore;
let service: RecordService;
let account: number;
/** Sets and places in the largest single read of the zone. */
let largest: number;

const key = { name: "z.example" };
const txt = (owner: string): RRset => ({ ...aSet(owner, '"text"'), type: "TXT" });
const some = Array.from({ length: largeZone }, (_, i) => `h${i}`);
const sets = [
  ...some.flatMap((owner, i) => [aSet(owner, "192.0.2.1"), ...(i % 300 === 0 ? [txt(owner)] : [])]),
  ...["@", "*", "a", "a-b", "a-b.c", "0"].flatMap((owner) => [aSet(owner, "192.0.2.2"), txt(owner)]),
  { ...aSet("labelled", "192.0.2.3"), labels: { team: "ops" } },
];

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  account = (await store.ensureAccount("main", 1)).id;
  await createZoneIn(
    store,
    { account, id: "z", ...key, settings: plainSettings(60), serial: 1, created: 1, sets },
    "test",
  );
  const noted = <T>(found: readonly T[]): readonly T[] => {
    largest = Math.max(largest, found.length);
    return found;
  };
  const watched: SqliteStore = {
    ...store,
    sets: async (zone, query) => noted(await store.sets(zone, query)),
    setsAfter: async (zone, after, limit) => noted(await store.setsAfter(zone, after, limit)),
    setKeysAfter: async (zone, after, limit) => noted(await store.setKeysAfter(zone, after, limit)),
    setPage: async (zone, query) => {
      const page = await store.setPage(zone, query);
      largest = Math.max(largest, page.total);
      return page;
    },
  };
  service = createRecordService({ store: watched, now: Date.now, nameservers: ["ns.example.net"] });
});
beforeEach(() => {
  largest = 0;
});
afterAll(() => store.close());

const actorFor = (scope: Actor["scope"]): Actor => ({ account, label: "test", scope });
const places = (found: readonly RRset[]) => found.map(({ owner, type }) => `${owner}/${type}`);
const listed = async (actor: Actor, query: SetPageQuery, keep?: (set: RRset) => boolean) => {
  const found = await service.setPage(actor, key, query, keep);
  if (found.kind !== "done") throw new Error(found.kind);
  return { items: places(found.page.items), total: found.page.total };
};

describe("a page of a large zone", () => {
  const byName = (descending: boolean) => ({ by: "name", descending }) as const;
  const byId = (descending: boolean) => ({ by: "id", descending }) as const;
  it.each([
    { order: [] },
    { order: [byName(false)] },
    { order: [byName(true)] },
    { order: [byId(false)] },
    { order: [byId(true)] },
    { order: [byName(true), byId(true)] },
  ])("is the one that the store would give, read in parts: $order", async ({ order }) => {
    const zone = await store.zoneBy(account, key);
    for (const types of [undefined, ["A"], ["TXT", "A"], ["MX"]] as const) {
      for (const page of [1, 2, 9, 99]) {
        const query: SetPageQuery = { order, ...(types && { types }), page, perPage: 50 };
        const whole = zone && (await store.setPage(zone, query));
        expect(await listed(actorFor(wholeAccount), query)).toEqual({
          items: places(whole?.items ?? []),
          total: whole?.total,
        });
      }
    }
    expect(largest).toBeLessThanOrEqual(1_000);
  });

  it("waits for other pages that the account requested at the same time, and is then answered", async () => {
    let [reading, most] = [0, 0];
    const counted: SqliteStore = {
      ...store,
      setKeysAfter: async (zone, after, limit) => {
        if (after === undefined) reading += 1;
        most = Math.max(most, reading);
        const part = await store.setKeysAfter(zone, after, limit);
        if (part.length < limit) reading -= 1;
        return part;
      },
    };
    service = createRecordService({ store: counted, now: Date.now, nameservers: ["ns.example.net"] });
    const pages = Array.from({ length: 30 }, (_, i) => listed(actorFor(wholeAccount), { page: i + 1, perPage: 10 }));
    expect(new Set((await Promise.all(pages)).flatMap(({ items }) => items)).size).toBe(300);
    expect(most).toBe(1);
  });

  it("that is filtered by labels is read in parts", async () => {
    const isOps = (set: RRset) => set.labels?.team === "ops";
    const found = await listed(actorFor(wholeAccount), { page: 1, perPage: 50 }, isOps);
    expect(found).toEqual({ items: ["labelled/A"], total: 1 });
    expect(largest).toBeLessThanOrEqual(1_000);
  });
});

describe("a token for some types of a large zone", () => {
  it.each([
    { types: ["TXT"], count: 10 },
    { types: ["A"], count: largeZone + 7 },
  ] as const)("counts and lists $types in parts", async ({ types, count }) => {
    const actor = actorFor({ access: "read", sets: [{ types }] });
    expect(await service.zone(actor, key)).toMatchObject({ recordCount: count });
    expect((await listed(actor, { page: 1, perPage: 5 })).total).toBe(count);
    expect(largest).toBeLessThanOrEqual(1_000);
  });
});
