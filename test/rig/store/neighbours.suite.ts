import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Reserved } from "../../../src/core/names/zone-neighbours.ts";
import { plainSettings } from "../../../src/records/model.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import { actOn, createZoneActionIn, createZoneIn } from "./write.ts";

/** Zones of one account inside and above those of others. */
export function describeNeighbours(name: string, open: () => Promise<RecordStore>): void {
  describe(`zones near those of other accounts in ${name}`, () => {
    let store: RecordStore;
    let [ours, theirs, thirds] = [0, 0, 0];
    beforeEach(async () => {
      store = await open();
      [ours, theirs, thirds] = (await Promise.all(["ours", "theirs", "thirds"].map(idOf))) as [number, number, number];
    });
    afterEach(() => store.close());

    const idOf = async (named: string) => (await store.ensureAccount(named, 1)).id;
    const zone = (account: number, named: string, reserved?: Reserved) => ({
      ...{ account, id: `${account}-${named}`, name: named, settings: plainSettings(60), serial: 1, created: 1 },
      ...{ sets: [], reserved },
    });
    /** The result: the zone's name, or why it was not created. */
    const create = async (account: number, named: string, reserved?: Reserved) => {
      const expected = await store.obstacleTo({ account, name: named, reserved });
      const made = await createZoneIn(store, zone(account, named, reserved), "a");
      expect(typeof made === "string" ? made : undefined).toBe(expected);
      return typeof made === "string" ? made : made.name;
    };
    const numberOf = async (account: number, named: string) =>
      (await store.zoneBy(account, { name: named }))?.number ?? 0;
    const grant = async (owner: number, of: string, to: number, named: string) =>
      store.addGrant({ zone: await numberOf(owner, of), account: to, name: named, actor: "a", created: 5 });
    const remove = async (account: number, named: string) => {
      const request = { account, at: { name: named }, owners: "all", actor: "a", now: 30 } as const;
      await actOn(store, request, () => ({ wanted: undefined, remove: true, result: null }));
    };

    it("are refused inside and above, and created beside", async () => {
      expect(await create(theirs, "alpha.test")).toBe("alpha.test");
      for (const inside of ["www.alpha.test", "_acme-challenge.alpha.test", "a.b.c.alpha.test"])
        expect(await create(ours, inside)).toBe("inside-foreign-zone");
      expect(await create(ours, "alpha.test")).toBe("name-taken");
      for (const beside of ["alpha-b.test", "xalpha.test", "alpha.test.example", "a.test"])
        expect(await create(ours, beside)).toBe(beside);
      expect(await create(theirs, "deep.down.beta.test")).toBe("deep.down.beta.test");
      for (const above of ["beta.test", "down.beta.test"]) expect(await create(ours, above)).toBe("above-foreign-zone");
    });

    it("are refused as an action too, which does not use up its idempotency key", async () => {
      await create(theirs, "alpha.test");
      const act = { actionName: "create_zone", actor: "a", now: 5, idempotencyKey: { key: "k", fingerprint: "f" } };
      expect(await createZoneActionIn(store, zone(ours, "www.alpha.test"), act)).toBe("inside-foreign-zone");
      expect(await store.zoneHolding("www.alpha.test")).toMatchObject({ name: "alpha.test" });
      expect(await createZoneActionIn(store, zone(ours, "beta.test"), act)).toMatchObject({
        result: { name: "beta.test" },
      });
    });

    it("are created inside and above the account's own zones, no matter who owns zones further away", async () => {
      await create(theirs, "alpha.test");
      await grant(theirs, "alpha.test", ours, "dev.alpha.test");
      expect(await create(ours, "dev.alpha.test")).toBe("dev.alpha.test");
      expect(await create(ours, "a.dev.alpha.test")).toBe("a.dev.alpha.test");
      // Inside our zone we decide, not the owner of the zone above ours.
      expect(await create(theirs, "b.dev.alpha.test")).toBe("inside-foreign-zone");
      await grant(ours, "dev.alpha.test", thirds, "b.dev.alpha.test");
      expect(await create(thirds, "b.dev.alpha.test")).toBe("b.dev.alpha.test");
      await create(ours, "x.beta.test");
      await grant(ours, "x.beta.test", theirs, "y.x.beta.test");
      await create(theirs, "y.x.beta.test");
      expect(await create(ours, "beta.test")).toBe("beta.test");
    });

    it("are created with the consent of every owner below", async () => {
      await create(theirs, "a.alpha.test");
      await create(theirs, "in.a.alpha.test");
      await create(thirds, "a-b.alpha.test");
      await grant(theirs, "a.alpha.test", ours, "alpha.test");
      expect(await create(ours, "alpha.test")).toBe("above-foreign-zone");
      await grant(thirds, "a-b.alpha.test", ours, "alpha.test");
      expect(await create(ours, "alpha.test")).toBe("alpha.test");
    });

    it("are created by only one of several accounts at the same time", async () => {
      const made = await Promise.all([
        createZoneIn(store, zone(ours, "alpha.test"), "a"),
        createZoneIn(store, zone(theirs, "www.alpha.test"), "a"),
        createZoneIn(store, zone(thirds, "a.www.alpha.test"), "a"),
        createZoneIn(store, zone(ours, "own.alpha.test"), "a"),
      ]);
      expect(made.map((each) => (typeof each === "string" ? each : each.name))).toEqual([
        "alpha.test",
        "inside-foreign-zone",
        "inside-foreign-zone",
        "own.alpha.test",
      ]);
    });

    it("take simultaneous deletions into account", async () => {
      await create(theirs, "alpha.test");
      const [, made] = await Promise.all([
        remove(theirs, "alpha.test"),
        createZoneIn(store, zone(ours, "www.alpha.test"), "a"),
      ]);
      expect(made).toMatchObject({ name: "www.alpha.test" });
    });

    it("need the operator's grant for a reserved name; an owner's is not enough", async () => {
      expect(await create(ours, "co.test", "public-suffix")).toBe("public-suffix");
      expect(await create(ours, "ns.test", "name-server")).toBe("name-server");
      const word = { zone: undefined, account: ours, name: "co.test", actor: "operator", created: 5 };
      expect(await store.addGrant(word)).toMatchObject({ ...word, accountName: "ours", zoneName: undefined });
      expect(await create(theirs, "co.test", "public-suffix")).toBe("public-suffix");
      expect(await create(ours, "co.test", "public-suffix")).toBe("co.test");
    });

    it("are not created with a revoked grant; existing ones stay", async () => {
      await create(theirs, "alpha.test");
      const given = await grant(theirs, "alpha.test", ours, "alpha.test");
      if (given === "no-zone") throw new Error(given);
      expect(await create(ours, "a.alpha.test")).toBe("a.alpha.test");
      const other = await create(theirs, "beta.test").then(() => numberOf(theirs, "beta.test"));
      expect(await store.revokeGrant(given.id, other)).toBe(false);
      expect(await store.revokeGrant(given.id, given.zone)).toBe(true);
      expect(await store.revokeGrant(given.id)).toBe(false);
      expect(await create(ours, "b.alpha.test")).toBe("inside-foreign-zone");
      expect(await store.zoneBy(ours, { name: "a.alpha.test" })).toBeDefined();
    });

    it("lose the grants of a deleted zone, even if a zone of that name is created again", async () => {
      await create(theirs, "alpha.test");
      const number = await numberOf(theirs, "alpha.test");
      await grant(theirs, "alpha.test", ours, "alpha.test");
      await remove(theirs, "alpha.test");
      expect(await store.grants({})).toEqual([]);
      expect(await create(thirds, "alpha.test")).toBe("alpha.test");
      expect(await create(ours, "www.alpha.test")).toBe("inside-foreign-zone");
      const late = { zone: number, account: ours, name: "alpha.test", actor: "a", created: 5 };
      expect(await store.addGrant(late)).toBe("no-zone");
    });

    it("have grants, each listed once, for one zone or for all", async () => {
      await create(theirs, "alpha.test");
      await create(theirs, "beta.test");
      const first = await grant(theirs, "alpha.test", ours, "a.alpha.test");
      expect(await grant(theirs, "alpha.test", ours, "a.alpha.test")).toEqual(first);
      const second = await grant(theirs, "beta.test", thirds, "beta.test");
      const word = { zone: undefined, account: ours, name: "a.alpha.test", actor: "operator", created: 5 };
      const third = await store.addGrant(word);
      expect(await store.addGrant(word)).toEqual(third);
      expect(first).toMatchObject({ accountName: "ours", zoneName: "alpha.test", name: "a.alpha.test", actor: "a" });
      expect(await store.grants({})).toEqual([first, second, third]);
      expect(await store.grants({ zone: await numberOf(theirs, "beta.test") })).toEqual([second]);
    });
  });
}
