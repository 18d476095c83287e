import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RRset } from "../../../src/core/records/rrset.ts";
import {
  type Publication,
  type PublishedContent,
  type PublishedSet,
  type PublishedSetChange,
  plainSettings,
  type Zone,
} from "../../../src/records/model.ts";
import type { RecordStore, RunningAction } from "../../../src/records/store/port.ts";
import { writtenSets } from "../core/written-sets.suite.ts";
import { actOn, createZoneIn } from "./write.ts";

const published: Publication = {
  ...{ provider: 1, name: "hetzner", service: "Hetzner", drift: "ask", readEvery: 900 },
  rules: { lowestTtl: 60, highestTtl: 86_400, mostValues: 50 },
};
const content: PublishedContent = { ttl: 60, values: ["192.0.2.1"] };

/** What every store keeps about zones that are published at a provider. */
export function describeFront(name: string, open: () => Promise<RecordStore>): void {
  describe(`published zones in ${name}`, () => {
    let store: RecordStore;
    let account: number;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", 1)).id;
    });
    afterEach(() => store.close());

    const zoneWith = async (settings = plainSettings(60)): Promise<Zone> => {
      const sets = writtenSets("one.example", "@ 3600 SOA ns1 hostmaster 7 7200 900 1209600 300");
      const first = { account, id: "one", name: "one.example", settings, serial: 7, created: 1, sets };
      const made = await createZoneIn(store, first, "a");
      if (typeof made === "string") throw new Error(made);
      return made;
    };
    const note = { through: 3, waiting: 0, ttl: 300, readAt: 9, trouble: undefined };
    const row = (owner: string, fields: Partial<PublishedSet> = {}): PublishedSet => ({
      ...{ owner, type: "A", held: content, sent: undefined, theirs: undefined, refused: undefined, at: 5 },
      ...fields,
    });

    it("reads the drift rule of earlier versions that took theirs as one that asks", async () => {
      const { number } = await zoneWith({
        ...plainSettings(60),
        published: { ...published, drift: "theirs" as "ask" },
      });
      await store.beginPublishing(number, note);
      const [[read] = []] = await store.publishedZones(account);
      expect(read?.settings.published).toEqual({ ...published, drift: "ask" });
    });

    it("keeps providers, one of each name per account, and replaces their tokens", async () => {
      const wish = {
        account,
        name: "hetzner",
        kind: "hetzner",
        url: "https://h",
        ca: undefined,
        sealed: "x",
        created: 5,
      };
      const added = await store.addProvider(wish);
      expect(added).toEqual({ ...wish, id: expect.any(Number), replaced: 5 });
      expect(await store.addProvider(wish)).toBe("name-taken");
      const { id } = added as { id: number };
      expect(await store.replaceProviderToken(id, "y", 8)).toBe(true);
      expect(await store.providers(account)).toEqual([{ ...wish, id, sealed: "y", replaced: 8 }]);
      expect(await store.providers(account + 1)).toEqual([]);
      expect([await store.removeProvider(id), await store.removeProvider(id)]).toEqual([true, false]);
    });

    it("keeps what is known about each set, and forgets it with the zone", async () => {
      const zone = await zoneWith();
      expect(await store.beginPublishing(zone.number, note)).toBe(true);
      const rows = [
        row("a"),
        row("b", { held: null, refused: { content, words: "no" } }),
        row("c", { sent: [{ content: null }] }),
        row("d", { theirs: null }),
        row("e", { theirs: { unreadable: "why" } }),
      ];
      await store.putPublishedSets(zone.number, rows);
      expect(await store.publishedSetsAfter(zone.number, undefined, 10)).toEqual(rows);
      expect(await store.publishedSetsAfter(zone.number, rows[1], 2)).toEqual(rows.slice(2, 4));
      expect(await store.publishedSetsAt(zone.number, ["c", "a"])).toHaveLength(2);
      expect([await store.knownSets([zone.number]), await store.knownSets([zone.number + 1])]).toEqual([5, 0]);
      expect(await store.troubledSets([zone.number])).toEqual([{ zone: zone.number, refused: 1, drifted: 2 }]);
      await store.putPublishedSets(zone.number, [row("a", { held: null }), row("b")]);
      expect((await store.publishedSetsAfter(zone.number, undefined, 2)).map(({ owner }) => owner)).toEqual(["b", "c"]);
      expect(await store.beginPublishing(zone.number, note)).toBe(false);
      expect(await store.publishedSetsAfter(zone.number, undefined, 10)).not.toEqual([]);
      await store.forgetPublished(zone.number);
      expect(await store.beginPublishing(zone.number, note)).toBe(true);
      expect(await store.publishedSetsAfter(zone.number, undefined, 10)).toEqual([]);
    });

    it("replaces the rows of sets only if they are still those that were seen", async () => {
      const zone = await zoneWith();
      await store.beginPublishing(zone.number, note);
      const seen = row("a", { held: null, refused: { content, words: "no" } });
      const [decided, learnt] = [
        row("a", { sent: [{ content, until: 9, isRead: true }, { content: null }] }),
        row("a", { theirs: null }),
      ];
      const replaced = async (...changes: readonly PublishedSetChange[]) =>
        (await store.replacePublishedSets(zone.number, changes)).map(({ owner }) => owner);
      expect(await replaced({ before: undefined, after: seen })).toEqual(["a"]);
      expect(await replaced({ before: undefined, after: learnt })).toEqual([]);
      expect(await replaced({ before: seen, after: decided })).toEqual(["a"]);
      const other = { before: undefined, after: row("b") };
      expect(await replaced({ before: seen, after: learnt }, other)).toEqual(["b"]);
      expect(await store.publishedSetsAt(zone.number, ["a", "b"])).toEqual([decided, row("b")]);
      const gone = row("a", { held: null, wasProxied: true });
      expect(await replaced({ before: decided, after: gone })).toEqual(["a"]);
      expect(await store.publishedSetsAt(zone.number, ["a"])).toEqual([gone]);
      expect(await replaced({ before: gone, after: row("a", { held: null }) })).toEqual(["a"]);
      expect(await store.publishedSetsAt(zone.number, ["a"])).toEqual([]);
      expect(await replaced({ before: decided, after: row("a") })).toEqual([]);
      await store.forgetPublished(zone.number);
      expect(await replaced({ before: undefined, after: row("a") })).toEqual([]);
    });

    it("writes many sets at a time", async () => {
      const zone = await zoneWith();
      await store.beginPublishing(zone.number, note);
      const rows = Array.from({ length: 4_500 }, (_, i) => row(`n${i}`));
      await store.putPublishedSets(zone.number, rows);
      expect(await store.publishedSetsAfter(zone.number, undefined, 9_999)).toHaveLength(4_500);
    });

    it("notes how far a zone is", async () => {
      const zone = await zoneWith({ ...plainSettings(60), published });
      await store.beginPublishing(zone.number, note);
      await store.notePublishedZone(zone.number, { waiting: 4, trouble: { text: "down", since: 7 } });
      const noted = { ...note, waiting: 4, trouble: { text: "down", since: 7 } };
      expect(await store.publishedZone(zone.number)).toEqual(noted);
      expect(await store.publishedZones(account)).toMatchObject([
        [{ name: "one.example", settings: { published } }, noted],
      ]);
      await store.notePublishedZone(zone.number, { trouble: undefined, ttl: undefined });
      expect(await store.publishedZone(zone.number)).toEqual({ ...noted, trouble: undefined, ttl: undefined });
      await store.forgetPublished(zone.number);
      expect([await store.publishedZone(zone.number), await store.publishedZones()]).toEqual([undefined, []]);
    });

    it.for([
      ["settled", {}, [], false],
      ["with trouble", { trouble: { text: "down", since: 7 } }, [], true],
      ["whose sets wait", { waiting: 1 }, [], true],
      ["with an unknown outcome", {}, [row("a", { sent: [{ content: null }] })], false],
      ["with a refused set", {}, [row("a", { refused: { content, words: "no" } })], true],
      ["with a set that was changed at the provider", {}, [row("a", { theirs: null })], true],
    ] as const)("finds whether a zone needs attention: one %s", async ([, state, rows, isFound]) => {
      const zone = await zoneWith({ ...plainSettings(60), published });
      await store.beginPublishing(zone.number, note);
      await store.notePublishedZone(zone.number, state);
      await store.putPublishedSets(zone.number, rows);
      expect(await store.unsettledZones(account, zone.modified + 1, 9)).toEqual(
        isFound ? [[zone, { ...note, ...state }]] : [],
      );
      expect(await store.unsettledZones(account + 1, zone.modified + 1, 9)).toEqual([]);
      // A set may wait for a moment.
      const isPatient = await store.unsettledZones(account, zone.modified, 9);
      expect(isPatient).toHaveLength(isFound && !("waiting" in state) ? 1 : 0);
    });

    it("does not keep sets of a zone that is not published", async () => {
      const zone = await zoneWith();
      await store.putPublishedSets(zone.number, [row("a")]);
      expect(await store.publishedSetsAfter(zone.number, undefined, 10)).toEqual([]);
    });

    describe("an action", () => {
      const put = (zone: Zone, value: string, running?: RunningAction) => {
        const request = { account, at: { number: zone.number }, owners: () => ["www"], actor: "a", now: 10 };
        const wanted = withIds(writtenSets("one.example", `www 60 A ${value}`), value);
        return actOn(store, request, () => ({ wanted, actionName: "put", result: value }), running && { running });
      };
      const statuses = async () => {
        const { items } = await store.actions(account, {
          now: 1e12,
          page: 1,
          perPage: 10,
          order: [{ by: "id", descending: false }],
        });
        return items.map(({ status = "success", error }) => error ?? status);
      };

      it("of a published zone is running until its serial is published, or fails with it", async () => {
        const zone = await zoneWith({ ...plainSettings(60), published });
        await store.beginPublishing(zone.number, note);
        const serials = [];
        for (const value of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
          const acted = await put(zone, value);
          if (typeof acted === "string") throw new Error(acted);
          expect(acted.action?.status).toBe("running");
          serials.push(acted.serial);
        }
        expect(await store.publishingSerials(zone.number)).toEqual(serials);
        await store.endPublishing(zone.number, serials.slice(0, 1), 20);
        await store.endPublishing(zone.number, serials.slice(1, 2), 20, "no such type");
        expect(await statuses()).toEqual(["success", "no such type", "running"]);
        await store.endStrayPublishing(30, "stray");
        expect(await store.publishingSerials(zone.number)).toEqual(serials.slice(2));
        await store.forgetPublished(zone.number);
        await store.endStrayPublishing(30, "stray");
        expect(await statuses()).toEqual(["success", "no such type", "stray"]);
      });

      it("that changed nothing, or of another zone, has ended", async () => {
        const zone = await zoneWith({ ...plainSettings(60), published });
        await put(zone, "192.0.2.1");
        const repeated = await put(zone, "192.0.2.1");
        expect(await statuses()).toEqual(["running", "success"]);
        const { id, changedNothing } = (typeof repeated === "string" ? undefined : repeated.action) ?? { id: 0 };
        expect(changedNothing).toBe(true);
        await put(zone, "192.0.2.2", { id });
        expect(await statuses()).toEqual(["running", "running"]);
      });
    });
  });
}

const withIds = (sets: readonly RRset[], id: string): readonly RRset[] =>
  sets.map((set) => ({ ...set, records: set.records.map((record) => ({ ...record, id })) }));
