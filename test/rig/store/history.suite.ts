import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wholeAccount } from "../../../src/core/may.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { plainSettings, type Zone } from "../../../src/records/model.ts";
import type { Actor } from "../../../src/records/queries/permitted-view.ts";
import type { WritesRange } from "../../../src/records/queries/writes.ts";
import { createRecordService } from "../../../src/records/service.ts";
import type { ChangeMatch, RecordStore } from "../../../src/records/store/port.ts";
import { aSet, at } from "../records/a-set.ts";
import { createZoneIn, writeTo } from "./write.ts";

const minute = 60_000;
const [first, token] = ["main (console)", "token 7 (router)"];

/** The history of a zone by write, on every RecordStore. `open` returns a new, empty store. */
export function describeHistory(name: string, open: () => Promise<RecordStore>): void {
  describe(`${name}, the history by write`, () => {
    let store: RecordStore;
    let actor: Actor;
    let zone: Zone;
    /** More changes than are looked at in one turn. */
    const imported = 1_100;

    beforeAll(async () => {
      store = await open();
      const account = (await store.ensureAccount("main", at)).id;
      actor = { account, label: first, scope: wholeAccount };
      zone = await makeZone("one.example");
      const other = await makeZone("two.example");
      for (let i = 1; i <= 30; i++) {
        await put(zone, i, token, [aSet("home", `192.0.2.${i}`)]);
        await put(other, i, first, [aSet("www", `192.0.2.${i}`)]);
      }
      const many = Array.from({ length: imported }, (_, i) => aSet(`host${i}`, "192.0.2.1"));
      await put(zone, 31, first, [...many, { ...aSet("mail", "2001:db8::1"), type: "AAAA" }]);
      await put(zone, 32, token, [aSet("home", "192.0.2.99")]);
      await put(zone, 33, first, [], ["host7", "host8"]);
    });
    afterAll(() => store.close());

    const makeZone = async (zoneName: string): Promise<Zone> => {
      const identity = { account: actor.account, id: `id-${zoneName}`, name: zoneName, settings: plainSettings(600) };
      const soa = { ...aSet("@", `${zoneName}. host. 1`), type: "SOA" } as const;
      const made = await createZoneIn(store, { ...identity, created: at, serial: 2026111500, sets: [soa] }, first);
      if (typeof made === "string") throw new Error(made);
      return made;
    };
    const put = (
      { id }: Zone,
      minutes: number,
      by: string,
      sets: readonly RRset[],
      owners = sets.map(({ owner }) => owner),
    ) =>
      writeTo(
        store,
        { account: actor.account, at: { zone: id }, owners: () => owners, actor: by, now: at + minutes * minute },
        () => ({ wanted: sets, result: "written" }),
      );
    const service = () => createRecordService({ store, now: () => at, nameservers: ["ns1.example.net"] });
    const read = async (range: Partial<WritesRange>) => {
      const page = await service().writes(actor, { name: "one.example" }, { match: {}, ...range });
      if (page.kind !== "done") throw new Error(page.kind);
      return page;
    };
    const minutesOf = (writes: readonly { readonly at: number }[]) => writes.map((write) => (write.at - at) / minute);

    it("groups changes by write, and counts what each did", async () => {
      const [newest, second, third, ...others] = await store.writesOf(zone, { window: 5_000, match: {} });
      expect([newest, second, third]).toMatchObject([
        { added: 0, replaced: 0, deleted: 2, settings: 0, begins: false, actor: first },
        { added: 0, replaced: 1, deleted: 0, actor: token },
        { added: imported + 1, replaced: 0, deleted: 0, actor: first, at: at + 31 * minute },
      ]);
      expect(others).toHaveLength(31);
      expect(others.filter(({ begins }) => begins)).toEqual([others.at(-1)]);
      const [cut] = await store.writesOf(zone, { window: 10, before: (second?.oldest ?? 0) - 5, match: {} });
      expect(cut).toMatchObject({ serial: third?.serial, added: 10 });
    });

    const matches: readonly [ChangeMatch, number][] = [
      [{ owner: "host7" }, 2 + 110],
      [{ owner: "host7", isWholeOwner: true }, 2],
      [{ owner: "ome", type: "A" }, 31],
      [{ type: "AAAA" }, 1],
      [{ owner: "mail", actor: "token 7" }, 0],
      [{ owner: "home", actor: "token 7" }, 31],
      [{ type: "it's" }, 0],
    ];
    it("finds the changes that match an owner, a type or an actor", async () => {
      for (const [match, count] of matches) {
        const found = (await store.historyOf(zone, { match, limit: 5_000 })).length;
        const hits = (await store.writesOf(zone, { window: 5_000, match })).filter(({ hit }) => hit > 0);
        expect([match, found, hits.length > 0]).toEqual([match, count, count > 0]);
      }
    });

    it("pages by write: each is listed once, with its first changes, however large one is", async () => {
      const page = await read({});
      expect(minutesOf(page.writes)).toEqual(Array.from({ length: 25 }, (_, i) => 33 - i));
      expect(page.writes.map(({ rows }) => rows.length)).toEqual([2, 1, 8, ...Array.from({ length: 22 }, () => 1)]);
      const rest = await read({ before: page.next });
      expect(minutesOf(rest.writes)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
      expect([rest.next, rest.reached]).toEqual([undefined, undefined]);
    });

    it("shows only the matching changes of a large write", async () => {
      const { writes, next } = await read({ match: { owner: "host8", type: "A" } });
      expect(minutesOf(writes)).toEqual([33, 31]);
      expect(writes.map(({ added }) => added)).toEqual([0, imported + 1]);
      expect(writes[0]?.rows.map(({ change }) => change.kind !== "settings" && change.owner)).toEqual(["host8"]);
      expect(next).toBeUndefined();
    });

    it("starts at a given time", async () => {
      expect(minutesOf((await read({ until: at + 3.5 * minute })).writes)).toEqual([3, 2, 1, 0]);
      expect(minutesOf((await read({ until: at + 30 * minute })).writes).slice(0, 2)).toEqual([30, 29]);
      expect((await read({ until: at - 1 })).writes).toEqual([]);
    });

    it("is not shown to other accounts, nor to those who see only some sets", async () => {
      const { id } = await store.ensureAccount("other", at);
      const range = { match: {} };
      const key = { name: "one.example" };
      expect(await service().writes({ ...actor, account: id }, key, range)).toMatchObject({ kind: "missing" });
      const scoped = { ...actor, scope: { ...wholeAccount, sets: [] } };
      expect(await service().writes(scoped, key, range)).toMatchObject({ kind: "missing" });
    });
  });
}
