import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { type LoggedRow, plainSettings, type Zone } from "../../../src/records/model.ts";
import type { RecordStore, WriteRequest } from "../../../src/records/store/port.ts";
import { aSet, at } from "../records/a-set.ts";
import { dropZone } from "../records/drop-zone.ts";
import { createZoneIn, writeAllTo, writeTo } from "./write.ts";

/** What every RecordStore does with writes to many records and zones. `open` returns a new, empty store each time. */
export function describeManyWrites(name: string, open: () => Promise<RecordStore>): void {
  describe(`${name}, many records in one write`, () => {
    let store: RecordStore;
    let account: number;
    let one: Zone;
    let two: Zone;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", at)).id;
      one = await makeZone("one.example");
      two = await makeZone("two.example");
    });
    afterEach(() => store.close());

    const makeZone = async (zone: string): Promise<Zone> => {
      const identity = { account, id: `id-${zone}`, name: zone, settings: plainSettings(600), created: at };
      const made = await createZoneIn(store, { ...identity, serial: 2026111500, sets: [] }, "tester");
      if (typeof made === "string") throw new Error(made);
      return made;
    };
    const request = (zone: Zone, owners: readonly string[]): WriteRequest => ({
      account,
      at: { zone: zone.id },
      owners: () => owners,
      actor: "tester",
      now: at,
    });
    const serials = async () =>
      (await store.zones(account, { page: 1, perPage: 9 })).items.map((zone) => zone.serial - 2026111500);

    it("writes to several zones in one transaction, with one new serial per zone", async () => {
      const result = await writeAllTo(store, [request(one, ["a"]), request(two, ["b"])], (views) => ({
        decisions: [{ wanted: [aSet("a", "1"), aSet("b", "2")] }, { wanted: [aSet("b", "3")] }],
        result: views.map((view) => view?.zone.name),
      }));
      expect(result).toEqual(["one.example", "two.example"]);
      expect(await serials()).toEqual([1, 1]);
      expect(await store.record(account, "b-3")).toMatchObject({ owner: "b" });
    });

    it("creates, changes and deletes a zone with thousands of sets, and announces the changes as they are in the log", async () => {
      // Each of the three writes is large.
      const size = 1_650;
      const told: LoggedRow[] = [];
      const end = store.onChange((rows = []) => void told.push(...rows));
      const before = await store.lastChange();
      const many = Array.from({ length: size }, (_, i) => aSet(`h${i}`, `${i}`));
      const identity = { account, id: "large", name: "large.example", settings: plainSettings(600), created: at };
      const zone = await createZoneIn(store, { ...identity, serial: 2026111500, sets: many }, "tester");
      if (typeof zone === "string") throw new Error(zone);
      // One third is deleted, one third moves with its ids, one third stays.
      await writeTo(store, { ...request(zone, []), owners: "all" }, ({ sets }) => ({
        wanted: sets.flatMap((set) => {
          const way = Number(set.owner.slice(1)) % 3;
          return way === 0 ? [] : way === 1 ? [{ ...set, owner: `moved-${set.owner}` }] : [set];
        }),
        result: 0,
      }));
      expect(await store.zone(account, "large")).toMatchObject({ recordCount: (size * 2) / 3, serial: 2026111501 });
      expect(await store.record(account, "h600-600")).toBeUndefined();
      expect(await store.record(account, "h1648-1648")).toMatchObject({ owner: "moved-h1648" });
      expect(await store.record(account, "h1649-1649")).toMatchObject({ owner: "h1649" });
      expect(await dropZone(store, account, zone, at)).toBe(true);
      expect(await store.record(account, "h1649-1649")).toBeUndefined();
      const log = await store.changesAfter(before, 100_000);
      const rows = size + (size / 3) * 5;
      expect(log.map((row) => row.position)).toEqual(Array.from({ length: rows }, (_, i) => before + 1 + i));
      // Changes made elsewhere are announced without rows.
      const known = new Set(log.map(inShort));
      expect(told.map(inShort).filter((row) => !known.has(row))).toEqual([]);
      end();
    });

    it("keeps both a large write and small ones to the same zone that arrive meanwhile", async () => {
      const many = Array.from({ length: 1_200 }, (_, i) => aSet(`h${i}`, `${i}`));
      let planned = 0;
      const large = writeTo(store, { ...request(one, []), owners: "all" }, ({ sets }) => {
        planned += 1;
        return { wanted: [...sets, ...many], result: sets.map((set) => set.owner) };
      });
      const small = [];
      for (const owner of ["a", "b"]) {
        small.push(writeTo(store, request(one, [owner]), () => ({ wanted: [aSet(owner, "1")], result: 0 })));
        await new Promise(setImmediate);
      }
      const [seen] = await Promise.all([large, ...small]);
      const after = await store.zone(account, one.id);
      expect(after).toMatchObject({ recordCount: 1_202, serial: 2026111503 });
      expect(await store.sets(one, { owners: ["a", "b", "h0", "h1199"] })).toHaveLength(4);
      expect(planned).toBeGreaterThan(0);
      // The large write saw everything that was logged before it.
      const log = await store.historyOf(one, { limit: 9_999 });
      const before = log.filter((row) => row.serial < (log.find(isOf("h0"))?.serial ?? 0)).map(ownerOf);
      expect(seen).toEqual(before.toSorted());
    });

    it("gives every write to a zone its own serial, even if another zone is deleted in between", async () => {
      const write = (owner: string) =>
        writeTo(store, request(one, [owner]), () => ({ wanted: [aSet(owner, "1")], result: 0 }));
      await Promise.all([write("a"), dropZone(store, account, two, at), write("b")]);
      const log = await store.historyOf(one, { limit: 9 });
      expect(log.map((row) => row.serial - 2026111500)).toEqual([2, 1]);
      expect(await store.zone(account, one.id)).toMatchObject({ recordCount: 2, serial: 2026111502 });
    });

    it("reads the sets of a zone in parts, in the order of owners and types", async () => {
      const owners = ["b", "a", "*.c", "_d", "xn--9ca", "a.b"];
      const wanted = owners.map((owner) => aSet(owner, "1"));
      await writeTo(store, request(one, owners), () => ({ wanted, result: undefined }));
      await writeTo(store, request(two, ["a"]), () => ({ wanted: [aSet("a", "2")], result: undefined }));
      const found: string[] = [];
      for (let last: RRset | undefined; ; ) {
        const part = await store.setsAfter(one, last, 2);
        expect(await store.setKeysAfter(one, last, 2)).toEqual(part.map(({ owner, type }) => ({ owner, type })));
        found.push(...part.map((set) => set.owner));
        last = part.at(-1);
        if (last === undefined) break;
      }
      expect(found).toEqual(owners.toSorted());
    });

    it("has no view of a missing zone, and still writes to the others", async () => {
      const nowhere = { ...request(one, []), at: { zone: "none" } };
      const seen = await writeAllTo(store, [nowhere, request(two, ["b"])], (views) => ({
        decisions: [{ wanted: [aSet("a", "1")] }, { wanted: [aSet("b", "2")] }],
        result: views.map((view) => view?.zone.name),
      }));
      expect(seen).toEqual([undefined, "two.example"]);
      expect(await serials()).toEqual([0, 1]);
    });

    it("writes nothing to any zone if one of them fails", async () => {
      // The same record id in two zones is not allowed.
      const twice = writeAllTo(store, [request(one, ["a"]), request(two, ["a"])], () => ({
        decisions: [{ wanted: [aSet("a", "1")] }, { wanted: [aSet("a", "1")] }],
        result: 0,
      }));
      await expect(twice).rejects.toThrow(/UNIQUE|unique/);
      expect(await serials()).toEqual([0, 0]);
      expect(await store.sets(one, {})).toEqual([]);
    });

    it("shows the writer the sets of further records, even after they have moved", async () => {
      await writeTo(store, request(one, ["a", "b"]), () => ({ wanted: [aSet("a", "1"), aSet("b", "2")], result: 0 }));
      await writeTo(store, request(two, ["c"]), () => ({ wanted: [aSet("c", "3")], result: 0 }));
      const moving = writeTo(store, request(one, ["a", "z"]), () => ({
        wanted: [{ ...aSet("a", "1"), owner: "z" }],
        result: 0,
      }));
      const seen = writeTo(store, { ...request(one, []), records: ["a-1", "b-2", "c-3", "none"] }, ({ sets }) => ({
        wanted: undefined,
        result: sets.map((set) => set.owner),
      }));
      await moving;
      expect(await seen).toEqual(["z", "b"]);
    });
  });
}

const ownerOf = ({ change }: LoggedRow): string => ("owner" in change ? change.owner : "");
const isOf = (owner: string) => (row: LoggedRow) => ownerOf(row) === owner;

const inShort = ({ position, serial, change }: LoggedRow): string =>
  `${position} ${serial} ${change.kind} ${"owner" in change ? change.owner : ""}`;
