import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RRset } from "../../../src/core/records/rrset.ts";
import {
  type LoggedChange,
  type NewZone,
  plainSettings,
  type Zone,
  type ZoneSettings,
} from "../../../src/records/model.ts";
import type { RecordStore, SetQuery, WriteRequest, ZoneFilter, ZoneQuery } from "../../../src/records/store/port.ts";
import { aRecord, aSet, at } from "../records/a-set.ts";
import { dropZone } from "../records/drop-zone.ts";
import { actOn, createZoneIn, writeTo } from "./write.ts";

/** What every RecordStore does. `open` returns a new, empty store each time. */
export function describeStore(name: string, open: () => Promise<RecordStore>): void {
  describe(`${name} as a RecordStore`, () => {
    let store: RecordStore;
    let account: number;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", at)).id;
    });
    afterEach(() => store.close());

    const makeZone = async (overrides: Partial<NewZone> = {}): Promise<Zone> => {
      const zone = await createZoneIn(store, { ...exampleZone(account), ...overrides }, "tester");
      if (typeof zone === "string") throw new Error(zone);
      return zone;
    };
    const request = (zone: Zone, owners: "all" | readonly string[], now = at + 1000): WriteRequest => ({
      account,
      at: { zone: zone.id },
      owners: owners === "all" ? owners : () => owners,
      actor: "tester",
      now,
    });
    /** Replaces all sets of the owners of the given sets. */
    const put = (zone: Zone, sets: readonly RRset[], owners = sets.map((set) => set.owner)) =>
      writeTo(store, request(zone, owners), () => ({ wanted: sets, result: "written" }));
    const remove = (zone: Zone, actor = "tester", whose = account) =>
      actOn(store, { account: whose, at: { number: zone.number }, owners: "all", actor, now: at + 9 }, () => ({
        wanted: undefined,
        remove: true,
        result: "removed",
      }));
    const log = async () => await store.changesAfter(0, 1000);

    describe("zones", () => {
      it("returns a new zone, with its record count", async () => {
        const zone = await makeZone();
        expect(zone).toMatchObject({
          name: "example.org",
          settings: plainSettings(600),
          serial: 2026111500,
          recordCount: 1,
          modified: at,
        });
        expect(await store.zone(account, zone.id)).toEqual(zone);
      });

      it("has each name once, across all accounts", async () => {
        await makeZone();
        const other = await store.ensureAccount("other", at);
        expect(await createZoneIn(store, { ...exampleZone(other.id), id: "z2" }, "tester")).toBe("name-taken");
      });

      it("shows an account nothing of another account", async () => {
        const zone = await makeZone();
        const other = await store.ensureAccount("other", at);
        expect(await store.zone(other.id, zone.id)).toBeUndefined();
        expect(await store.zones(other.id, { page: 1, perPage: 10 })).toEqual({ items: [], total: 0 });
        expect(await store.record(other.id, "soa-example.org")).toBeUndefined();
        expect(await remove(zone, "tester", other.id)).toBe("no-zone");
        const write = { ...request(zone, ["www"]), account: other.id };
        expect(await writeTo(store, write, () => ({ wanted: [aSet("www", "1")], result: 1 }))).toBeUndefined();
        const byRecord = { ...write, at: { record: "soa-example.org" } };
        expect(await writeTo(store, byRecord, () => ({ wanted: [], result: 1 }))).toBeUndefined();
        expect(await store.sets(zone, {})).toHaveLength(1);
      });

      const zoneLists = [
        ["all, by age", {}, ["b.org", "a.org", "ab.net"]],
        ["an exact name", { name: "a.org" }, ["a.org"]],
        ["a name that does not exist", { name: "org" }, []],
        ["part of a name", { search: "b" }, ["b.org", "ab.net"]],
        ["part of a name with an SQL wildcard", { search: "%" }, []],
        ["certain names", { within: ["a.org", "b.org", "c.org"] }, ["b.org", "a.org"]],
        ["an exact name outside certain names", { name: "ab.net", within: ["a.org"] }, []],
        ["an empty list of names", { within: [] }, []],
      ] satisfies [string, Partial<ZoneQuery>, string[]][];
      it("lists zones by name", async () => {
        for (const name of ["b.org", "a.org", "ab.net"])
          await makeZone({ id: `id-${name}`, name, sets: [soaOf(name)] });
        for (const [what, query, names] of zoneLists) {
          const { items, total } = await store.zones(account, { ...query, page: 1, perPage: 10 });
          const found = items.map((zone) => zone.name);
          expect([what, found, total]).toEqual([what, names, names.length]);
        }
      });

      it("lists the zones after a name in parts", async () => {
        for (const name of ["b.org", "a.org", "ab.net", "c.org"])
          await makeZone({ id: `id-${name}`, name, sets: [soaOf(name)] });
        const namesAfter = async (after: string, limit: number, filter: ZoneFilter = {}) =>
          (await store.zonesAfter(account, after, limit, filter)).map((zone) => zone.name);
        expect(await namesAfter("", 2)).toEqual(["a.org", "ab.net"]);
        expect(await namesAfter("ab.net", 9)).toEqual(["b.org", "c.org"]);
        expect(await namesAfter("a.org", 9, { search: "b" })).toEqual(["ab.net", "b.org"]);
        expect(await namesAfter("c.org", 9)).toEqual([]);
      });

      const modeLists = [
        ["of a mode", { mode: "secondary" }, ["b.org"]],
        ["of the other mode, on a second page", { mode: "primary", page: 2, perPage: 1 }, ["c.org"]],
        ["of a name and a mode", { name: "b.org", mode: "secondary" }, ["b.org"]],
        ["of a name and another mode", { name: "b.org", mode: "primary" }, []],
        ["of a name that is not visible and a mode", { name: "b.org", mode: "secondary", within: ["a.org"] }, []],
      ] satisfies [string, Partial<ZoneQuery>, string[]][];
      it("lists zones by mode", async () => {
        const settings = {
          "a.org": {},
          "b.org": { mode: "secondary" },
          "c.org": {},
        } satisfies Record<string, Partial<ZoneSettings>>;
        for (const [name, own] of Object.entries(settings))
          await makeZone({ id: `id-${name}`, name, settings: { ...plainSettings(600), ...own }, sets: [soaOf(name)] });
        for (const [what, query, names] of modeLists) {
          const { items, total } = await store.zones(account, { page: 1, perPage: 10, ...query });
          const found = items.map((zone) => zone.name);
          expect([what, found, total]).toEqual([what, names, "page" in query ? 2 : names.length]);
        }
      });

      it("returns pages, and the total", async () => {
        for (const name of ["a.org", "b.org", "c.org"]) await makeZone({ id: `id-${name}`, name, sets: [soaOf(name)] });
        const page = await store.zones(account, { page: 2, perPage: 2 });
        expect(page.items.map((zone) => zone.name)).toEqual(["c.org"]);
        expect(page.total).toBe(3);
        await makeZone({ id: "again", name: "a.org", sets: [soaOf("a.org")] }).catch(() => undefined);
        await dropZone(store, account, { name: "b.org" }, 2);
        expect((await store.zones(account, { page: 1, perPage: 2 })).total).toBe(2);
      });

      it("finds a zone by number, by name, and by a name inside it", async () => {
        const outer = await makeZone();
        const inner = await makeZone({ id: "inner", name: "sub.example.org", sets: [soaOf("sub.example.org")] });
        expect(await store.zoneBy(account, { number: outer.number })).toEqual(outer);
        expect(await store.zoneBy(account, { name: "sub.example.org" })).toEqual(inner);
        expect(await store.zoneBy(account + 1, { name: "sub.example.org" })).toBeUndefined();
        expect(await store.zoneNamed("sub.example.org")).toEqual(inner);
        expect(await store.zoneNamed("x.sub.example.org")).toBeUndefined();
        expect((await store.zoneHolding("a.b.example.org"))?.name).toBe("example.org");
        expect((await store.zoneHolding("x.sub.example.org"))?.name).toBe("sub.example.org");
        expect((await store.zoneHolding("sub.example.org"))?.name).toBe("sub.example.org");
        expect(await store.zoneHolding("sub\\.example.org")).toBeUndefined();
        expect(await store.zoneHolding("xexample.org")).toBeUndefined();
      });

      it("finds nothing under a name or an id with a NUL, which a database may not accept in text", async () => {
        const zone = await makeZone();
        const all = { page: 1, perPage: 10 };
        expect(await store.zone(account, "\0")).toBeUndefined();
        expect(await store.zoneBy(account, { name: "\0" })).toBeUndefined();
        expect(await store.record(account, "\0")).toBeUndefined();
        for (const query of [{ name: "\0" }, { search: "\0" }]) {
          expect(await store.zones(account, { ...all, ...query })).toEqual({ items: [], total: 0 });
        }
        expect(await store.setPage(zone, { ...all, owners: ["\0"] })).toEqual({ items: [], total: 0 });
        for (const place of [{ zone: "\0" }, { record: "\0" }]) {
          const write = { ...request(zone, []), at: place };
          expect(await writeTo(store, write, () => ({ wanted: [], result: 1 }))).toBeUndefined();
        }
      });

      it("changes the settings of a zone under a new serial, but not if they are the same", async () => {
        const zone = await makeZone();
        const settings = { ...zone.settings, ttl: 66, labels: { team: "ops" } };
        const set = () => writeTo(store, request(zone, []), () => ({ wanted: undefined, settings, result: 0 }));
        await set();
        await set();
        expect(await store.zone(account, zone.id)).toMatchObject({ settings, serial: 2026111501 });
        const rows = (await log()).filter((row) => row.change.kind === "settings");
        expect(rows.map((row) => row.change)).toEqual([{ kind: "settings", before: zone.settings, after: settings }]);
      });

      it("deletes a zone with all its sets; the log keeps it", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("www", "192.0.2.1")]);
        expect(await remove(zone, "remover")).toMatchObject({ result: "removed" });
        expect(await store.zone(account, zone.id)).toBeUndefined();
        expect(await store.record(account, "www-192.0.2.1")).toBeUndefined();
        const last = (await log()).filter((row) => row.actor === "remover");
        expect(new Set(last.map(setChanged))).toEqual(new Set(["delete www A", "delete @ SOA"]));
        expect(await makeZone()).toMatchObject({ name: "example.org", recordCount: 1 });
      });

      it("continues from the serial of a deleted zone of the same name", async () => {
        const zone = await makeZone();
        for (const value of ["192.0.2.1", "192.0.2.2"]) await put(zone, [aSet("www", value)]);
        await remove(zone, "remover");
        const again = await makeZone({ id: "again" });
        expect(again.serial).toBe(2026111504);
        expect((await log()).at(-1)).toMatchObject({ serial: 2026111504, zone: again.number });
        expect((await makeZone({ id: "other", name: "other.org", sets: [soaOf("other.org")] })).serial).toBe(
          2026111500,
        );
      });
    });

    describe("writes", () => {
      it("shows the writer only the sets of the requested owners", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("www", "192.0.2.1"), aSet("mail", "192.0.2.2")]);
        const seen = await writeTo(store, request(zone, ["www", "none", "www"]), ({ sets }) => ({
          wanted: undefined,
          result: sets.map((set) => set.owner),
        }));
        expect(seen).toEqual(["www"]);
        const all = await writeTo(store, request(zone, "all"), ({ sets }) => ({
          wanted: undefined,
          result: sets.length,
        }));
        expect(all).toBe(3);
      });

      it("raises the serial once per write, by one or to today's first", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("a", "192.0.2.1"), aSet("b", "192.0.2.2")]);
        expect(await store.zone(account, zone.id)).toMatchObject({
          serial: 2026111501,
          modified: at + 1000,
          recordCount: 3,
        });
        const tomorrow = at + 86_400_000;
        await writeTo(store, request(zone, ["c"], tomorrow), () => ({ wanted: [aSet("c", "192.0.2.3")], result: 0 }));
        expect((await store.zone(account, zone.id))?.serial).toBe(2026111600);
      });

      it("writes nothing and logs nothing for a write that changes nothing", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("www", "192.0.2.1")]);
        const before = [await store.zone(account, zone.id), await log()];
        await put(zone, [aSet("www", "192.0.2.1")]);
        await writeTo(store, request(zone, ["www"]), () => ({ wanted: undefined, result: 0 }));
        expect([await store.zone(account, zone.id), await log()]).toEqual(before);
      });

      it("logs the state of each set before and after, with one serial per write", async () => {
        const zone = await makeZone();
        const [first, second] = [aSet("www", "192.0.2.1"), aSet("www", "192.0.2.2")];
        await put(zone, [first]);
        await put(zone, [second, aSet("new", "192.0.2.9")], ["www", "new"]);
        await put(zone, [], ["www"]);
        const rows = (await log()).filter((row) => setChanged(row).endsWith(" A"));
        expect(rows.map((row) => `${row.serial} ${setChanged(row)}`)).toEqual([
          "2026111501 create www A",
          "2026111502 replace www A",
          "2026111502 create new A",
          "2026111503 delete www A",
        ]);
        expect(rows[1]).toMatchObject({ actor: "tester", zoneName: "example.org", at: at + 1000 });
        expect(rows[1]?.change).toMatchObject({ before: first, after: second });
        expect(await store.changesAfter(rows[2]?.position ?? 0, 10)).toEqual([rows[3]]);
        expect(await store.changesAfter(rows[2]?.position ?? 0, 10, zone.account)).toEqual([rows[3]]);
        expect(await store.changesAfter(0, 10, zone.account + 1)).toEqual([]);
        const [last, third, earlier] = rows.toReversed();
        const newest = await store.latestChanges(zone.account, { limit: 2 });
        expect(newest).toEqual({ changes: [last, third], next: third?.position });
        expect((await store.latestChanges(zone.account, { before: newest.next, limit: 1 })).changes).toEqual([earlier]);
        expect(await store.latestChanges(zone.account + 1, { limit: 10 })).toEqual({ changes: [], next: undefined });
      });

      it("shows the writer the sets beside a record, given its id", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("www", "192.0.2.1"), aSet("mail", "192.0.2.2"), aSet("ftp", "192.0.2.3")]);
        const beside = { ...request(zone, ["mail"]), at: { record: "www-192.0.2.1" } };
        const seen = await writeTo(store, beside, (view) => ({
          wanted: undefined,
          result: view.sets.map((set) => set.owner).sort((a, b) => a.localeCompare(b)),
        }));
        expect(seen).toEqual(["mail", "www"]);
        const nowhere = { ...request(zone, ["mail"]), at: { record: "none" } };
        expect(await writeTo(store, nowhere, () => ({ wanted: [], result: 1 }))).toBeUndefined();
      });

      it("stores labels and the lock of a set, and notices when they change", async () => {
        const zone = await makeZone();
        const marked = { ...aSet("www", "192.0.2.1"), labels: { env: "prod" }, locked: true };
        await put(zone, [marked]);
        expect(await store.sets(zone, { owner: "www" })).toEqual([marked]);
        await put(zone, [{ ...marked, locked: false }]);
        expect((await store.zone(account, zone.id))?.serial).toBe(2026111502);
        expect(await store.sets(zone, { owner: "www" })).toEqual([
          { ...aSet("www", "192.0.2.1"), labels: { env: "prod" } },
        ]);
      });

      it("reads the history of one zone, newest first", async () => {
        const zone = await makeZone();
        const other = await makeZone({ id: "other", name: "other.org", sets: [soaOf("other.org")] });
        await put(zone, [aSet("www", "192.0.2.1")]);
        await put(other, [aSet("www", "192.0.2.9")]);
        await put(zone, [aSet("www", "192.0.2.2")]);
        const history = await store.historyOf(zone, { limit: 10 });
        expect(history.map(setChanged)).toEqual(["replace www A", "create www A", "create @ SOA"]);
        const [newest] = history;
        expect((await store.historyOf(zone, { limit: 1, before: newest?.position ?? 0 })).map(setChanged)).toEqual([
          "create www A",
        ]);
        expect(await store.historyOf(zone, { limit: 9, serial: newest?.serial ?? 0 })).toEqual([newest]);
      });

      it("counts the other changes of a write", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("a", "192.0.2.1"), aSet("b", "192.0.2.1"), aSet("c", "192.0.2.1")]);
        await put(zone, [aSet("a", "192.0.2.2")]);
        const history = await store.historyOf(zone, { limit: 10 });
        const rests = history.map((change) => store.precedingInWrite(zone, change));
        expect(await Promise.all(rests)).toEqual([0, 2, 1, 0, 0]);
      });

      it("calls back only after a commit that changed something", async () => {
        const zone = await makeZone();
        let calls = 0;
        const end = store.onChange(() => {
          calls += 1;
        });
        await put(zone, [aSet("www", "192.0.2.1")]);
        expect(calls).toBe(1);
        await put(zone, [aSet("www", "192.0.2.1")]);
        expect(calls).toBe(1);
        await remove(zone);
        expect(calls).toBe(2);
        end();
        await makeZone({ id: "again" });
        expect(calls).toBe(2);
      });

      it("returns the SOA with the zone's serial and time", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("www", "192.0.2.1")]);
        const soa = await store.record(account, "soa-example.org");
        expect(soa?.record).toMatchObject({
          value: "ns1.example.net. admin.example.net. 2026111501 2 3 4 5",
          modified: at + 1000,
        });
        expect(soa?.record.rdata).toBe(soa?.record.value);
      });

      it("keeps nothing of a write whose rule throws, and all of the others in the batch", async () => {
        const zone = await makeZone();
        const outcomes = await Promise.allSettled([
          put(zone, [aSet("one", "192.0.2.1")]),
          writeTo(store, request(zone, ["bad"]), () => {
            throw new Error("a bug in a rule");
          }),
          put(zone, [aSet("two", "192.0.2.2")]),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
        expect((await store.sets(zone, {})).map((set) => set.owner).sort()).toEqual(["@", "one", "two"]);
        expect((await store.zone(account, zone.id))?.serial).toBe(2026111502);
      });

      it("loses and duplicates nothing with many writers on one set", async () => {
        const zone = await makeZone();
        const add = (i: number) =>
          writeTo(store, request(zone, ["pool"]), ({ sets }) => ({
            wanted: [{ ...aSet("pool"), records: [...(sets[0]?.records ?? []), aRecord("pool", `192.0.2.${i}`)] }],
            result: i,
          }));
        await Promise.all(Array.from({ length: 100 }, (_, i) => add(i)));
        const [pool] = await store.sets(zone, { owner: "pool" });
        expect(new Set(pool?.records.map((record) => record.id)).size).toBe(100);
        expect(await store.zone(account, zone.id)).toMatchObject({ serial: 2026111600, recordCount: 101 });
      });

      it("reads sets of one owner, of several, and of one type", async () => {
        const zone = await makeZone();
        await put(zone, [aSet("www", "192.0.2.1"), { ...aSet("www", "t"), type: "TXT" }, aSet("mail", "192.0.2.2")]);
        const names = async (query: SetQuery) =>
          (await store.sets(zone, query)).map((set) => `${set.owner}/${set.type}`);
        expect(await names({ owner: "www" })).toEqual(["www/A", "www/TXT"]);
        expect(await names({ type: "A" })).toEqual(["mail/A", "www/A"]);
        expect(await names({ owner: "www", type: "TXT" })).toEqual(["www/TXT"]);
        expect(await names({ owners: ["www", "none", "mail"] })).toEqual(["www/A", "www/TXT", "mail/A"]);
        expect(await names({ owners: ["mail", "www"], type: "A" })).toEqual(["mail/A", "www/A"]);
        expect(await names({ owners: [] })).toEqual([]);
      });
    });
  });
}

const setChanged = ({ change }: LoggedChange): string =>
  change.kind === "settings" ? "settings" : `${change.kind} ${change.owner} ${change.type}`;

const soaOf = (zone: string): RRset => {
  const rdata = "ns1.example.net. admin.example.net. 0 2 3 4 5";
  return { owner: "@", type: "SOA", ttl: null, records: [{ ...aRecord("@", rdata), id: `soa-${zone}` }] };
};

const exampleZone = (account: number): NewZone => ({
  ...{ account, id: "zone-1", name: "example.org", serial: 2026111500, created: at },
  ...{ settings: plainSettings(600), sets: [soaOf("example.org")] },
});
