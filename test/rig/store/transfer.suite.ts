import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { wholeAccount } from "../../../src/core/may.ts";
import { plainSettings } from "../../../src/records/model.ts";
import { AccessEnded, type RecordStore } from "../../../src/records/store/port.ts";
import { writtenSets } from "../core/written-sets.suite.ts";
import { actOn, createZoneIn, writeTo } from "./write.ts";

/** What every store keeps for other nameservers. */
export function describeTransferKeys(name: string, open: () => Promise<RecordStore>): void {
  describe(`transfer keys and secondary zones in ${name}`, () => {
    let store: RecordStore;
    let account: number;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", 1)).id;
    });
    afterEach(() => store.close());

    const key = (named: string, of?: number) =>
      ({
        name: named,
        algorithm: "hmac-sha256",
        secret: "c2VjcmV0",
        account: of,
        scope: wholeAccount,
        created: 5,
      }) as const;
    const zone = async (named: string, mode: "primary" | "secondary" = "primary") => {
      const sets = withId(writtenSets(named, "@ 3600 SOA ns1 hostmaster 7 7200 900 1209600 300"), named);
      const settings = { ...plainSettings(60), mode };
      const made = await createZoneIn(
        store,
        { account, id: named, name: named, settings, serial: 7, created: 1, sets },
        "a",
      );
      if (typeof made === "string") throw new Error(made);
      return made;
    };

    it("finds a key by its name, with its account", async () => {
      expect(await store.addTransferKey(key("k1", account))).toMatchObject({ name: "k1", accountName: "main" });
      expect(await store.transferKey("k1")).toEqual({
        ...key("k1", account),
        number: expect.any(Number),
        accountName: "main",
        revoked: undefined,
      });
      expect(await store.transferKey("k2")).toBeUndefined();
    });

    it("allows one valid key per name", async () => {
      await store.addTransferKey(key("k1"));
      expect(await store.addTransferKey(key("k1"))).toBe("name-taken");
      expect(await store.revokeTransferKey("k1", 9)).toBe(true);
      expect(await store.revokeTransferKey("k1", 9)).toBe(false);
      expect(await store.transferKey("k1")).toBeUndefined();
      expect(await store.addTransferKey(key("k1"))).toMatchObject({ name: "k1" });
      expect((await store.transferKeys()).map(({ revoked, secret }) => [revoked, secret])).toEqual([
        [9, ""],
        [undefined, "c2VjcmV0"],
      ]);
    });

    it("lets the key that has a revoked one's name write, and not the revoked one", async () => {
      await zone("a.example");
      const made = async () => {
        const added = await store.addTransferKey(key("k1", account));
        if (typeof added === "string") throw new Error(added);
        return added;
      };
      const first = await made();
      await store.revokeTransferKey("k1", 9);
      const second = await made();
      const removal = { account, at: { name: "a.example" }, owners: () => [], actor: "key k1", now: 30 } as const;
      const writeBy = ({ number }: { readonly number: number }) =>
        actOn(store, removal, () => ({ wanted: undefined, result: "written" }), { by: { key: number } });
      await expect(writeBy(first)).rejects.toBeInstanceOf(AccessEnded);
      expect(await writeBy(second)).toMatchObject({ result: "written" });
    });

    it("allows an account, and the operator, as many keys in force as they may have", async () => {
      const add = async (name: string, of?: number) => {
        const added = await store.addTransferKey(key(name, of), 2);
        return typeof added === "string" ? added : "added";
      };
      const outcomes: string[] = [];
      for (const [name, of] of [["a", account], ["b", account], ["c", account], ["d"], ["e"], ["f"]] as const)
        outcomes.push(await add(name, of));
      expect(outcomes).toEqual(["added", "added", "too-many", "added", "added", "too-many"]);
      await store.revokeTransferKey("a", 9);
      expect(await add("c", account)).toBe("added");
    });

    it("notifies of revoked access when a key is revoked", async () => {
      await store.addTransferKey(key("k1"));
      let heard = 0;
      store.onAccessChange(() => {
        heard += 1;
      });
      expect(heard).toBe(0);
      await store.revokeTransferKey("k1", 9);
      await expect.poll(() => heard).toBeGreaterThan(0);
    });

    it("lists the zones of all accounts by number, page by page", async () => {
      for (const named of ["a.example", "b.example", "c.example"]) await zone(named);
      const first = await store.everyZone(0, 2);
      expect(first.map((each) => each.name)).toEqual(["a.example", "b.example"]);
      expect((await store.everyZone(first[1]?.number ?? 0, 2)).map((each) => each.name)).toEqual(["c.example"]);
    });

    it("lists secondary zones, and deletes their state with them", async () => {
      const first = await zone("a.example");
      const second = await zone("b.example", "secondary");
      expect((await store.secondaryZones()).map((each) => each.name)).toEqual(["b.example"]);
      const state = async () => (await store.secondaryStates([first, second])).get(second.number);
      expect(await state()).toBeUndefined();
      await store.noteSecondary(second, { checked: 10, serial: 3 });
      await store.noteSecondary(second, { checked: 20, serial: 4 });
      expect(await state()).toMatchObject({
        checked: 20,
        serial: 4,
        soa: expect.stringMatching(/^ns1\.\S* \S+ \d+ \d+ /),
      });
      const removal = { account, at: { name: "b.example" }, owners: "all", actor: "a", now: 30 } as const;
      await actOn(store, removal, () => ({ wanted: undefined, remove: true, result: null }));
      expect(await state()).toBeUndefined();
      await store.noteSecondary(second, { checked: 40, serial: 4 });
      expect(await state()).toBeUndefined();
    });

    it("uses the serial of a primary server", async () => {
      const made = await zone("b.example", "secondary");
      const request = { account, at: { zone: made.id }, owners: "all", actor: "transfer", now: 50 } as const;
      const wanted = writtenSets("b.example", "@ 60 SOA ns9 hostmaster 3 7200 900 1209600 300");
      await writeTo(store, request, () => ({ wanted: withId(wanted, "new"), serial: 3, result: undefined }));
      expect(await store.zone(account, made.id)).toMatchObject({ serial: 3 });
      expect((await store.historyOf(made, { serial: 3, limit: 9 })).map((row) => row.actor)).toEqual(["transfer"]);
    });
  });
}

const withId = (sets: ReturnType<typeof writtenSets>, id: string) =>
  sets.map((set) => ({ ...set, records: set.records.map((record) => ({ ...record, id })) }));
