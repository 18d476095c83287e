import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RRset, ZoneRecord } from "../../../src/core/records/rrset.ts";
import { plainSettings, type Zone } from "../../../src/records/model.ts";
import type { RecordStore, WriteView } from "../../../src/records/store/port.ts";
import { aRecord, aSet, at } from "../records/a-set.ts";
import { createZoneIn, writeTo } from "./write.ts";

/** What every RecordStore does with the ids of records. `open` returns a new, empty store each time. */
export function describeRecordIds(name: string, open: () => Promise<RecordStore>): void {
  describe(`${name}, the ids of records`, () => {
    let store: RecordStore;
    let account: number;
    let zone: Zone;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", at)).id;
      const identity = { account, id: "zone-1", name: "example.org", settings: plainSettings(600), created: at };
      const made = await createZoneIn(store, { ...identity, serial: 2026111500, sets: [] }, "tester");
      if (typeof made === "string") throw new Error(made);
      zone = made;
    });
    afterEach(() => store.close());

    /** Replaces all sets of the owners of the given sets. */
    const put = (sets: readonly RRset[], owners = sets.map((set) => set.owner)) =>
      writeTo(store, { account, at: { zone: zone.id }, owners: () => owners, actor: "tester", now: at }, () => ({
        wanted: sets,
        result: "written",
      }));

    it("a write sees DNAME sets above its names, and names below them, as they are stored", async () => {
      const seen = (owners: readonly string[], look: (storedNames: WriteView["storedNames"]) => unknown) =>
        writeTo(
          store,
          { account, at: { zone: zone.id }, owners: () => owners, actor: "tester", now: at },
          ({ storedNames }) => ({
            wanted: undefined,
            result: look(storedNames),
          }),
        );
      await put([{ ...aSet("moved", "x"), type: "TYPE39" }, aSet("a.b.c", "1"), aSet("b.c", "2")]);
      await put([aSet("was.moved.c", "3")]);
      expect(await seen(["x.moved"], ({ hasDname }) => ["moved", "@"].map(hasDname))).toEqual([true, false]);
      expect(await seen(["c"], ({ endingWith }) => new Set(endingWith("c")))).toEqual(
        new Set(["a.b.c", "b.c", "was.moved.c"]),
      );
      expect(await seen(["b"], ({ endingWith }) => [...endingWith("b")])).toEqual([]);
      expect(await seen(["@"], ({ endingWith }) => new Set(endingWith("@")).size)).toBe(4);
      await put([], ["moved"]);
      expect(await seen(["x.moved"], ({ hasDname }) => hasDname("moved"))).toBe(false);
    });

    it("finds a record by its id after it has moved", async () => {
      const old = aSet("www", "192.0.2.1");
      await put([old]);
      await put([{ ...old, owner: "moved", ttl: 77 }], ["www", "moved"]);
      expect(await store.record(account, "www-192.0.2.1")).toMatchObject({ owner: "moved", type: "A", ttl: 77 });
      expect((await store.zone(account, zone.id))?.recordCount).toBe(1);
    });

    it("lets two sets swap their records in one write", async () => {
      const [x, y] = [aSet("x", "192.0.2.1"), aSet("y", "192.0.2.2")];
      await put([x, y]);
      await put([
        { ...x, records: y.records },
        { ...y, records: x.records },
      ]);
      expect(await store.record(account, "x-192.0.2.1")).toMatchObject({ owner: "y" });
      expect(await store.record(account, "y-192.0.2.2")).toMatchObject({ owner: "x" });
    });

    it("lets records with the same value rotate between sets in one write", async () => {
      const one = { ...aRecord("x", "192.0.2.1"), id: "1" };
      const two = { ...one, id: "2" };
      const setOf = (owner: string, record: ZoneRecord) => ({ ...aSet(owner), records: [record] });
      await put([setOf("x", one), setOf("y", two)]);
      const after = [setOf("x", two), setOf("z", one)];
      await put(after, ["x", "y", "z"]);
      expect(await store.record(account, "1")).toMatchObject({ owner: "z", record: one });
      expect(await store.record(account, "2")).toMatchObject({ owner: "x", record: two });
      expect(await store.sets(zone, { owners: ["x", "y", "z"] })).toEqual(after);
    });

    it("keeps the ids of a set that does not change, beside one that does", async () => {
      const text = { ...aSet("x", '"t"'), type: "TXT" } as const;
      await put([aSet("x", "192.0.2.1"), text]);
      const again = { ...text, records: text.records.map((record) => ({ ...record, id: "new" })) };
      await put([aSet("x", "192.0.2.2"), again]);
      expect(await store.sets(zone, { owner: "x" })).toEqual([aSet("x", "192.0.2.2"), text]);
      expect(await store.record(account, "new")).toBeUndefined();
    });
  });
}
