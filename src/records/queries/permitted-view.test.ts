import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { createRecordService, type RecordService } from "../service.ts";
import type { SetPageQuery, SetQuery } from "../store/port.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";
import type { Actor } from "./permitted-view.ts";

let store: SqliteStore;
let service: RecordService;
let zoneId: string;
/** What was read from the zone's sets. */
let read: (SetQuery | SetPageQuery)[];

const owner: Actor = { account: 1, label: "owner", scope: wholeAccount };
const tenant: Actor = {
  account: 1,
  label: "tenant",
  scope: { access: "write", sets: [{ owner: "b", types: ["A"] }, { owner: "a" }, { owner: "b", types: ["TXT"] }] },
};

beforeEach(async () => {
  store = openSqliteStore(":memory:");
  await store.ensureAccount("main", 1);
  read = [];
  const noted: SqliteStore = {
    ...store,
    sets: (zone, query) => {
      read.push(query);
      return store.sets(zone, query);
    },
    setPage: (zone, query) => {
      read.push(query);
      return store.setPage(zone, query);
    },
  };
  service = createRecordService({ store: noted, now: Date.now, nameservers: ["ns.example.net"] });
  const made = await service.createZone(owner, { name: "shared.example", ttl: 60 });
  if (made.kind !== "done") throw new Error("no zone");
  zoneId = made.zone.id;
  const value = "192.0.2.1";
  for (const name of ["c", "b", "a"])
    await service.createRecord(owner, zoneId, { type: "A", name, value, text: value, ttl: undefined });
});
afterEach(() => store.close());

describe("a token for a few names of a zone that many share", () => {
  const names = (records: readonly { readonly owner: string }[]) => records.map((record) => record.owner);

  it("reads only those, in the usual order", async () => {
    expect(await service.zone(tenant, { zone: zoneId })).toMatchObject({ recordCount: 2 });
    const listed = await service.records(tenant, { zone: zoneId });
    expect(listed.kind === "done" && names(listed.records)).toEqual(["a", "b"]);
    const exported = await service.exportZone(tenant, { zone: zoneId }, "v1");
    expect(exported.kind === "done" && exported.parts.join("")).not.toMatch(/^c\b/m);
    expect(read).toEqual(read.map(() => ({ owners: ["a", "b"] })));
    expect(read).not.toEqual([]);
  });

  it("reads only those for a page", async () => {
    const key = { name: "shared.example" };
    const page = async (query: Partial<SetPageQuery>) => {
      const found = await service.setPage(tenant, key, { page: 1, perPage: 10, ...query }, undefined);
      return found.kind === "done" ? names(found.page.items) : found;
    };
    expect(await page({})).toEqual(["a", "b"]);
    expect(await page({ owners: ["b"] })).toEqual(["b"]);
    expect(await page({ owners: ["c"] })).toEqual([]);
    const pages = read.flatMap((query) => ("page" in query ? [query.owners] : []));
    expect(pages).toEqual([["a", "b"], ["b"], []]);
  });

  it("for some types at any name finds a set without reading all others", async () => {
    const typed: Actor = { account: 1, label: "certificates", scope: { access: "write", sets: [{ types: ["A"] }] } };
    const key = { name: "shared.example" };
    const found = await service.set(typed, { zone: key, name: "a", type: "A" });
    expect(found.kind).toBe("done");
    await service.history(typed, key, { limit: 1 });
    await service.openZone(typed, key);
    expect(read).toEqual([{ owner: "a", type: "A" }]);
  });

  it("for some types at any name reads only those to count and list them", async () => {
    const scope = { access: "write", sets: [{ types: ["TXT"] }, { owner: "a", types: ["A"] }] } as const;
    const typed: Actor = { account: 1, label: "certificates", scope };
    const key = { name: "shared.example" };
    expect(await service.zone(typed, key)).toMatchObject({ recordCount: 1 });
    const page = (query: Partial<SetPageQuery>) =>
      service.setPage(typed, key, { page: 1, perPage: 10, ...query }, undefined);
    expect(await page({})).toMatchObject({ page: { total: 1 } });
    expect(await page({ types: ["A", "AAAA"] })).toMatchObject({ page: { total: 1 } });
    expect(await page({ types: ["AAAA"] })).toMatchObject({ page: { total: 0 } });
    expect(read.map((query) => "types" in query && query.types)).toEqual([["A", "TXT"], ["A", "TXT"], ["A"], []]);
  });

  it("reads those by key, not by page, to count them", async () => {
    const few: Actor = { ...tenant, scope: { access: "write", sets: [{ owner: "b", types: ["A"] }] } };
    expect(await service.zone(few, { name: "shared.example" })).toMatchObject({ recordCount: 1 });
    expect(read).toEqual([{ owners: ["b"] }]);
  });

  it("is distinguished from one for all names", async () => {
    const listed = await service.records(owner, { zone: zoneId });
    expect(listed.kind === "done" && names(listed.records)).toEqual(["@", "a", "b", "c"]);
    expect(read).toEqual([{}]);
  });
});
