import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { wholeAccount } from "../../../src/core/may.ts";
import type { RecordType } from "../../../src/core/rdata/table.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { type NewZone, plainSettings, type Zone } from "../../../src/records/model.ts";
import { signatures } from "../../../src/records/store/kept-actions.ts";
import type { ActionRequest, IdempotencyKey, RecordStore } from "../../../src/records/store/port.ts";
import { AccessEnded } from "../../../src/records/store/port.ts";
import { actOn, createZoneActionIn, createZoneIn } from "./write.ts";

/** What every RecordStore does with actions, idempotency keys and pages. */
export function describeActions(name: string, open: () => Promise<RecordStore>): void {
  describe(`${name}, actions`, () => {
    let store: RecordStore;
    let account: number;
    let zone: Zone;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", at)).id;
      zone = await makeZone("one.example");
    });
    afterEach(() => store.close());

    const newZone = (zoneName: string): NewZone => ({
      account,
      id: `id-${zoneName}`,
      name: zoneName,
      settings: plainSettings(600),
      serial: 2026111500,
      created: at,
      sets: [aSet("@", "SOA", `ns1.${zoneName}. admin.example.net. 0 2 3 4 5`)],
    });
    const makeZone = async (zoneName: string): Promise<Zone> => {
      const made = await createZoneIn(store, newZone(zoneName), "tester");
      if (typeof made === "string") throw new Error(made);
      return made;
    };
    const request = (overrides: Partial<ActionRequest> = {}): ActionRequest => ({
      account,
      at: { name: "one.example" },
      owners: () => ["www"],
      actor: "tester",
      now: at,
      ...overrides,
    });
    const put = (value: string, overrides: Partial<ActionRequest> = {}, how: Parameters<typeof actOn>[3] = {}) => {
      const decision = { wanted: [aSet("www", "A", value)], actionName: "put", result: value };
      return actOn(store, request(overrides), () => decision, how);
    };
    const all = { now: at, page: 1, perPage: 100 };
    const commands = async (query = {}) =>
      (await store.actions(account, { ...all, ...query })).items.map((action) => action.command);

    it("stores an action with the write, whether or not that changed anything", async () => {
      const first = await put("192.0.2.1");
      const second = await put("192.0.2.1", { at: { number: zone.number }, now: at + 5 });
      expect(first).toMatchObject({
        result: "192.0.2.1",
        action: { zone: zone.number, zoneName: "one.example", command: "put", at },
      });
      expect((await store.actions(account, all)).items).toEqual([
        typeof first === "object" && first.action,
        typeof second === "object" && second.action,
      ]);
      expect((await store.zone(account, zone.id))?.serial).toBe(2026111501);
    });

    it("decides and checks in a trial, and writes nothing", async () => {
      const end = await store.lastChange();
      expect(await put("192.0.2.1", {}, { isTrial: true })).toEqual({
        ...{ result: "192.0.2.1", action: undefined, serial: 2026111500 },
      });
      const whole = { owners: "all" } as const;
      expect(await put("192.0.2.1", whole, { isTrial: true })).toMatchObject({ action: undefined });
      expect(await put("192.0.2.1", { at: { name: "two.example" } }, { isTrial: true })).toBe("no-zone");
      const create = (of: string) => createZoneIn(store, newZone(of), "tester", undefined, true);
      expect(await create("two.example")).toMatchObject({ name: "two.example", number: 0, recordCount: 1 });
      expect(await create("one.example")).toBe("name-taken");
      expect(await store.zoneBy(account, { name: "two.example" })).toBe(undefined);
      expect([await store.lastChange(), await commands()]).toEqual([end, []]);
      expect(await store.zone(account, zone.id)).toEqual(zone);
    });

    it("stores no action for a write that was refused, or threw, or found no zone", async () => {
      const refused = await actOn(store, request(), () => ({ wanted: undefined, result: "no" }));
      expect(refused).toEqual({ result: "no", action: undefined, serial: 2026111500 });
      expect(await put("192.0.2.1", { at: { name: "two.example" } })).toBe("no-zone");
      expect(await put("192.0.2.1", { account: account + 1 })).toBe("no-zone");
      const bug = actOn(store, request(), () => {
        throw new Error("a bug in a rule");
      });
      await expect(bug).rejects.toThrow(/bug/);
      expect(await commands()).toEqual([]);
    });

    it("rejects commands whose token was revoked while they waited, and no others", async () => {
      const newToken = { account, name: "t", scope: wholeAccount, created: at };
      const [one, two] = [
        await store.addToken({ ...newToken, hash: "1" }),
        await store.addToken({ ...newToken, hash: "2" }),
      ];
      const by = (token: number) => ({ by: { token } });
      await store.revokeToken(one.id, at);
      await expect(put("192.0.2.1", {}, by(one.id))).rejects.toBeInstanceOf(AccessEnded);
      await expect(createZoneIn(store, newZone("two.example"), "tester", by(one.id).by)).rejects.toBeInstanceOf(
        AccessEnded,
      );
      expect([await commands(), await store.zoneBy(account, { name: "two.example" })]).toEqual([[], undefined]);
      expect(await put("192.0.2.2", {}, by(two.id))).toMatchObject({ result: "192.0.2.2" });
    });

    it("keeps the actions of a zone that was created and deleted", async () => {
      const made = await createZoneActionIn(store, newZone("two.example"), {
        actionName: "make",
        actor: "tester",
        now: at,
      });
      expect(made).toMatchObject({ result: { name: "two.example" }, action: { command: "make" } });
      expect(
        await createZoneActionIn(store, newZone("two.example"), { actionName: "make", actor: "tester", now: at }),
      ).toBe("name-taken");
      const drop = request({ at: { name: "two.example" }, owners: "all" });
      const dropped = await actOn(store, drop, () => ({
        wanted: undefined,
        remove: true,
        actionName: "drop",
        result: 0,
      }));
      expect(dropped).toMatchObject({ serial: 2026111501 });
      expect(await store.zoneBy(account, { name: "two.example" })).toBeUndefined();
      expect(await actOn(store, drop, () => ({ wanted: undefined, result: 0 }))).toBe("no-zone");
      expect(await commands()).toEqual(["make", "drop"]);
    });

    it("sees the effect of earlier writes in the same transaction", async () => {
      const seen = await Promise.all(
        [{ name: "one.example" }, { number: zone.number }, { name: "one.example" }].map((key, i) =>
          actOn(store, request({ at: key }), (view) => ({
            wanted: [aSet("www", "A", `192.0.2.${i}`)],
            result: view.zone.serial,
          })),
        ),
      );
      const before = [2026111500, 2026111501, 2026111502];
      expect(seen).toEqual(before.map((result) => ({ result, action: undefined, serial: result + 1 })));
    });

    it("lists actions by zone, names or ids, in any order, in pages, and only for their account", async () => {
      await makeZone("two.example");
      for (const [i, zoneName] of ["one.example", "two.example", "one.example"].entries()) {
        const decision = { wanted: undefined, actionName: `c${3 - i}`, result: 0 };
        await actOn(store, request({ at: { name: zoneName }, now: at + i }), () => decision);
      }
      const { items } = await store.actions(account, all);
      const id = items[1]?.id ?? 0;
      expect(await commands({ zone: zone.number })).toEqual(["c3", "c1"]);
      expect(await commands({ within: ["two.example"] })).toEqual(["c2"]);
      await actOn(store, request({ actor: "somebody else" }), () => ({
        wanted: undefined,
        actionName: "c9",
        result: 0,
      }));
      expect(await commands({ actor: "somebody else" })).toEqual(["c9"]);
      expect(await commands({ actor: "tester" })).toEqual(["c3", "c2", "c1"]);
      expect(await commands({ ids: [id, 999] })).toEqual(["c2"]);
      expect(await commands({ order: [{ by: "command", descending: false }] })).toEqual(["c1", "c2", "c3", "c9"]);
      const last = { zone: zone.number, order: [{ by: "started" as const, descending: true }], actor: "tester" };
      expect(await commands(last)).toEqual(["c1", "c3"]);
      expect(await store.actions(account, { ...all, page: 2, perPage: 2 })).toMatchObject({
        items: [{ command: "c1" }, { command: "c9" }],
        total: 4,
      });
      expect(await store.actions(account + 1, { ...all, ids: [id] })).toEqual({ items: [], total: 0 });
    });

    it("shows an action while its write goes on, and ends it with the write", async () => {
      const first = await store.startAction(zone, "put", { actor: "tester", now: at, until: at + 10 });
      const second = await store.startAction(zone, "import", { actor: "tester", now: at, until: at + 10 });
      const third = await store.startAction(zone, "sign_zone", { actor: "tester", now: at, until: at + 10 });
      expect(first).toMatchObject({ command: "put", status: "running" });
      const states = async (now: number, query = {}) =>
        (await store.actions(account, { ...all, ...query, now })).items.map(({ status }) => status ?? "success");
      expect(await states(at)).toEqual(["running", "running", "running"]);
      expect(await states(at + 11)).toEqual(["error", "error", "error"]);
      await store.extendAction(third.id, at + 20);
      await store.endAction(second.id, at + 5, "no");
      const written = await put("192.0.2.1", {}, { running: { id: first.id } });
      expect(written).toMatchObject({ action: { id: first.id } });
      expect(await states(at + 11)).toEqual(["success", "error", "running"]);
      expect(await states(at + 11, { status: ["running", "error"] })).toEqual(["error", "running"]);
      expect(await states(at + 11, { status: ["success"] })).toEqual(["success"]);
      expect(await states(at + 21, { status: ["error"] })).toEqual(["error", "error"]);
      const { items } = await store.actions(account, { ...all, now: at + 21 });
      expect(items).toMatchObject([{}, { error: "no", finished: at + 5 }, { finished: at + 20 }]);
      expect(items[2]?.error).toMatch(/again/);
    });

    it("drops actions after a week", async () => {
      await put("192.0.2.1");
      const week = 7 * 86_400_000;
      for (let i = 0; i < 999; i += 1) void put("192.0.2.2", { now: at + week - 1 });
      await put("192.0.2.3", { now: at + week + 1 });
      expect((await store.actions(account, { ...all, perPage: 1 })).items[0]?.at).toBe(at + week - 1);
    });

    describe("an idempotency key", () => {
      const idempotencyKey: IdempotencyKey = { key: "k", fingerprint: "f" };

      it("makes the same request count once, even if simultaneous", async () => {
        const add = () =>
          actOn(store, request({ idempotencyKey }), ({ sets }) => ({
            wanted: [aSet("www", "A", "192.0.2.1"), ...sets.map((set) => ({ ...set, type: "TXT" as const }))],
            actionName: "add",
            result: { sets: sets.length },
          }));
        const [one, two] = await Promise.all([add(), add()]);
        expect(one).toMatchObject({ result: { sets: 0 } });
        expect(two).toEqual(one);
        expect(await add()).toEqual(one);
        expect(await commands()).toEqual(["add"]);
      });

      it("is refused for another request, is separate per actor, and expires after a day", async () => {
        await put("192.0.2.1", { idempotencyKey });
        expect(await put("192.0.2.2", { idempotencyKey: { ...idempotencyKey, fingerprint: "other" } })).toBe(
          "key-taken",
        );
        expect(
          await put("192.0.2.2", { idempotencyKey: { ...idempotencyKey, fingerprint: "other" }, actor: "another" }),
        ).toMatchObject({
          result: "192.0.2.2",
        });
        expect(await put("192.0.2.3", { idempotencyKey, now: at + 86_400_000 - 1 })).toMatchObject({
          result: "192.0.2.1",
        });
        expect(await put("192.0.2.3", { idempotencyKey, now: at + 86_400_000 })).toMatchObject({ result: "192.0.2.3" });
      });

      it("is not used up by a write that was refused", async () => {
        await actOn(store, request({ idempotencyKey }), () => ({ wanted: undefined, result: "refused" }));
        expect(await put("192.0.2.1", { idempotencyKey: { ...idempotencyKey, fingerprint: "other" } })).toMatchObject({
          result: "192.0.2.1",
        });
      });

      it("is stored without an action if requested", async () => {
        const put = (rdata: string) =>
          actOn(store, request({ idempotencyKey }), () => ({
            wanted: [aSet("www", "A", rdata)],
            remember: true,
            result: rdata,
          }));
        const first = await put("192.0.2.1");
        expect(first).toMatchObject({ result: "192.0.2.1" });
        expect(await put("192.0.2.2")).toEqual(first);
        expect((await store.sets(zone, { owner: "www" }))[0]?.records[0]?.rdata).toBe("192.0.2.1");
        expect(await commands()).toEqual([]);
      });

      it("for a signature expires after a quarter of an hour; others stay", async () => {
        const signed = { key: "s", fingerprint: signatures.fingerprint };
        const put = (one: IdempotencyKey, now = at) =>
          actOn(store, request({ idempotencyKey: one, now }), () => ({
            wanted: undefined,
            remember: true,
            result: now,
          }));
        await put(signed);
        await put(idempotencyKey);
        const late = at + signatures.kept + 1;
        // Every thousandth key triggers a purge.
        for (let i = 0; i < 1_000; i += 1) void put({ key: `${i}`, fingerprint: "f" }, late);
        await put({ key: "last", fingerprint: "f" }, late);
        expect(await put(signed, late)).toMatchObject({ result: late });
        expect(await put(idempotencyKey, late)).toMatchObject({ result: at });
      });

      it("creates a zone once", async () => {
        const make = () =>
          createZoneActionIn(store, newZone("two.example"), {
            actionName: "make",
            actor: "tester",
            now: at,
            idempotencyKey,
          });
        const first = await make();
        expect(await make()).toEqual(first);
      });
    });

    describe("pages", () => {
      const sets = [
        aSet("b", "A", "192.0.2.1"),
        aSet("a", "TXT", '"t"'),
        aSet("@", "A", "192.0.2.1"),
        aSet("a", "A", "192.0.2.1"),
      ];
      beforeEach(() =>
        actOn(store, request({ owners: () => ["a", "b"] }), () => ({ wanted: sets, actionName: "put", result: 0 })),
      );

      const setPages = [
        ["by type, then name, the apex first", {}, ["@/A", "a/A", "b/A", "@/SOA", "a/TXT"]],
        ["by name", { order: [{ by: "name", descending: false }] }, ["@/A", "@/SOA", "a/A", "a/TXT", "b/A"]],
        ["by name, descending", { order: [{ by: "name", descending: true }] }, ["b/A", "a/A", "a/TXT", "@/A", "@/SOA"]],
        ["by id, descending", { order: [{ by: "id", descending: true }] }, ["b/A", "a/TXT", "a/A", "@/SOA", "@/A"]],
        ["of one name", { owners: ["a"] }, ["a/A", "a/TXT"]],
        ["of certain names and types", { owners: ["a", "@"], types: ["A"] }, ["@/A", "a/A"]],
        ["of an empty list of names", { owners: [] }, []],
        ["of certain types", { types: ["SOA", "TXT"] }, ["@/SOA", "a/TXT"]],
        ["of an empty list of types", { types: [] }, []],
        ["a second page", { page: 2, perPage: 2 }, ["b/A", "@/SOA"]],
      ] as const;
      it("of sets, in any order, by names and types", async () => {
        for (const [what, query, ids] of setPages) {
          const { items, total } = await store.setPage(zone, { page: 1, perPage: 10, ...query });
          const found = items.map((set) => `${set.owner}/${set.type}`);
          expect([what, found, total]).toEqual([what, ids, "page" in query ? 5 : ids.length]);
        }
      });

      it("of zones, in any order", async () => {
        for (const each of ["c.example", "b.example"]) await makeZone(each);
        const names = async (by: "id" | "name" | "created", descending: boolean) =>
          (await store.zones(account, { ...all, order: [{ by, descending }] })).items
            .map((each) => each.name[0])
            .join();
        expect(await names("name", false)).toBe("b,c,o");
        expect(await names("name", true)).toBe("o,c,b");
        expect(await names("id", true)).toBe("b,c,o");
        expect(await names("created", true)).toBe("o,c,b");
      });
    });

    it("knows the position of the last change, and its account", async () => {
      await put("192.0.2.1");
      const log = await store.changesAfter(0, 100);
      expect(await store.lastChange()).toBe(log.at(-1)?.position);
      expect(log.at(-1)?.account).toBe(account);
    });
  });
}

const at = Date.UTC(2026, 10, 15, 12);

const aSet = (owner: string, type: RecordType, value: string): RRset => ({
  owner,
  type,
  ttl: null,
  records: [
    { id: `${owner}-${type}-${value}`, name: owner, value, rdata: value, comment: "", created: at, modified: at },
  ],
});
