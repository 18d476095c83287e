import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test/rig/long-run.ts";
import { dropZone } from "../../../../test/rig/records/drop-zone.ts";
import { signZone } from "../../../../test/rig/records/sign.ts";
import { createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import { faultsIn } from "../../../../test/store/store-files.ts";
import type { RRset, ZoneRecord } from "../../../core/records/rrset.ts";
import { plainSettings } from "../../model.ts";
import { KeyFileSigner } from "../../signing/signer.ts";
import type { RecordStore, WriteRequest } from "../port.ts";
import { RowCache } from "./row-cache.ts";
import { migrations } from "./schema.ts";
import { openSqliteStore } from "./store.ts";

const owners = ["@", "a", "b"] as const;
const recordIds = ["r1", "r2", "r3"] as const;
const account = 1;
const zoneId = "z1";

const record = (id: string, owner: string, value: number): ZoneRecord => {
  const address = `192.0.2.${value}`;
  return { id, name: owner, value: address, rdata: address, comment: "", created: 1, modified: value };
};

type Step =
  | {
      readonly kind: "put";
      readonly id: string;
      readonly owner: string;
      readonly value: number;
      readonly mark: boolean;
    }
  | { readonly kind: "delete"; readonly id: string }
  | { readonly kind: "throw"; readonly id: string; readonly owner: string };

const step = fc.oneof(
  fc.record({
    kind: fc.constant("put" as const),
    id: fc.constantFrom(...recordIds),
    owner: fc.constantFrom(...owners),
    value: fc.integer({ min: 1, max: 9 }),
    mark: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("delete" as const), id: fc.constantFrom(...recordIds) }),
  fc.record({
    kind: fc.constant("throw" as const),
    id: fc.constantFrom(...recordIds),
    owner: fc.constantFrom(...owners),
  }),
);
/**
 * Which of two stores on one file makes the write, and whether the next write waits until this one and those before it
 * are done.
 */
const steps = fc.array(fc.record({ step, other: fc.boolean(), wait: fc.boolean() }), { maxLength: 12 });

const request: WriteRequest = { account, at: { zone: zoneId }, owners: () => owners, actor: "test", now: 5 };

const without = (sets: readonly RRset[], id: string): readonly RRset[] =>
  sets.map((set) => ({ ...set, records: set.records.filter((each) => each.id !== id) }));

async function take(store: RecordStore, at: Step): Promise<unknown> {
  if (at.kind === "delete")
    return await writeTo(store, request, ({ sets }) => ({ wanted: without(sets, at.id), result: 1 }));
  if (at.kind === "throw") {
    // The index of ids refuses this write, so its whole group is rolled back, and the other writes in it are repeated.
    const twice = [record("r1", at.owner, 1), record("r1", at.owner, 2)];
    const wanted = [{ owner: at.owner, type: "TXT" as const, ttl: null, records: twice }];
    return await writeTo(store, request, ({ sets }) => ({ wanted: [...sets, ...wanted], result: 1 })).catch(
      () => "refused",
    );
  }
  const { id, owner, value, mark } = at;
  return await writeTo(store, request, ({ sets }) => {
    const rest = without(sets, id);
    const home = rest.find((set) => set.owner === owner && set.type === "A");
    const records = [...(home?.records ?? []), record(id, owner, value)];
    const grown: RRset = { owner, type: "A", ttl: value, records, labels: mark ? { by: "test" } : {}, locked: false };
    return { wanted: [...rest.filter((set) => set !== home), grown], result: 1 };
  });
}

const soa = { ...record("soa", "@", 1), rdata: "ns.test. mail.test. 1 2 3 4 5", value: "" };
const newZone = (id: string) => ({
  account,
  id,
  name: "home.test",
  settings: plainSettings(60),
  serial: 7,
  created: 1,
  sets: [{ owner: "@", type: "SOA" as const, ttl: null, records: [soa] }],
});

async function seen(store: RecordStore) {
  const zone = await store.zone(account, zoneId);
  if (zone === undefined) return undefined;
  return {
    zone,
    byName: await store.zoneBy(account, { name: zone.name }),
    sets: await Promise.all(owners.map((owner) => store.sets(zone, { owner }))),
    records: await Promise.all([...recordIds, "soa"].map(async (id) => store.record(account, id))),
  };
}

describe("the rows a store caches", () => {
  it("are those in the file, no matter which store wrote them and what was refused", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const path = join(mkdtempSync(join(tmpdir(), "moor-rows-")), "records.sqlite");
        const stores = [openSqliteStore(path), openSqliteStore(path)] as const;
        await stores[0].ensureAccount("main", 1);
        await createZoneIn(stores[0], newZone(zoneId), "test");
        await Promise.all(stores.map(seen));
        const done = [];
        for (const { step: next, other, wait } of all) {
          done.push(take(stores[other ? 1 : 0], next));
          if (wait) await Promise.all(done);
        }
        await Promise.all(done);
        await nextTurn();
        const fresh = openSqliteStore(path);
        const truth = await seen(fresh);
        for (const store of stores) expect(await seen(store)).toEqual(truth);
        for (const store of [...stores, fresh]) store.close();
      }),
      runs(10),
    );
  });

  it("do not include the old zone after another store deleted it and created one of the same name", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "moor-rows-")), "records.sqlite");
    const [store, other] = [openSqliteStore(path), openSqliteStore(path)];
    await store.ensureAccount("main", 1);
    await createZoneIn(store, newZone(zoneId), "test");
    await dropZone(other, account, { name: "home.test" }, 5);
    await createZoneIn(other, newZone("z2"), "test");
    await nextTurn();
    expect(await store.zoneBy(account, { name: "home.test" })).toMatchObject({ id: "z2" });
    for (const each of [store, other]) each.close();
  });

  it("include the signed names that another store wrote", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moor-rows-"));
    const path = join(folder, "records.sqlite");
    const signer = new KeyFileSigner(join(folder, "key"));
    const open = () => openSqliteStore(path, migrations, signer);
    const [store, other] = [open(), open()];
    await store.ensureAccount("main", 1);
    const ns = {
      owner: "@",
      type: "NS" as const,
      ttl: null,
      records: [{ ...record("ns", "@", 1), rdata: "ns.test." }],
    };
    const { sets, ...draft } = newZone(zoneId);
    const zone = await createZoneIn(store, { ...draft, sets: [...sets, ns] }, "test");
    if (typeof zone === "string") throw new Error(zone);
    const now = Date.now();
    await signZone({ store, actor: "test", now }, zone, { algorithm: 13, denial: "nsec" }, signer);
    const put = (by: RecordStore, owner: string, value: number) =>
      writeTo(by, { ...request, owners: () => [owner], now }, ({ sets: there }) => ({
        wanted: [
          ...there.filter(({ type }) => type !== "A"),
          { owner, type: "A", ttl: null, records: [record(`${owner}${value}`, owner, value)] },
        ],
        result: undefined,
      }));
    await put(store, "a", 1);
    await put(other, "@", 2);
    await put(other, "b", 3);
    await put(store, "a", 4);
    await store.signed();
    const names = await store.signedNames(zone, undefined, 9);
    expect(names.map(({ owner, types }) => [owner, types.includes(1)])).toEqual([
      ["@", true],
      ["a", true],
      ["b", true],
    ]);
    for (const each of [store, other]) each.close();
    expect((await faultsIn(path)).filter(({ code }) => /sign|chain/.test(code))).toEqual([]);
  });

  it("are limited in number", () => {
    const reads: string[] = [];
    const zone = (id: string) => {
      reads.push(id);
      return { id, number: Number(id), name: `${id}.test` };
    };
    const rowCache = new RowCache({ zone } as unknown as ConstructorParameters<typeof RowCache>[0], () => undefined);
    const readsFor = (...ids: readonly string[]) => {
      for (const id of ids) rowCache.zone(id);
      return reads.splice(0);
    };
    expect(readsFor("0", "1", "0", "1")).toEqual(["0", "1"]);
    readsFor(...Array.from({ length: 10_001 }, (_, i) => `${i}`));
    expect(readsFor("10000", "0", "0")).toEqual(["0"]);
  });
});
