import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { wholeAccount } from "../../../src/core/may.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";

/** What every RecordStore does with accounts and tokens. `open` returns a new, empty store each time. */
export function describeTokens(name: string, open: () => Promise<RecordStore>): void {
  describe(`${name}, accounts and tokens`, () => {
    let store: RecordStore;
    let account: number;
    beforeEach(async () => {
      store = await open();
      account = (await store.ensureAccount("main", at)).id;
    });
    afterEach(() => store.close());

    it("creates an account once, and only when asked to", async () => {
      expect(await store.account("main")).toEqual({ id: account, name: "main" });
      expect(await store.account("other")).toBeUndefined();
      expect(await store.ensureAccount("main", at + 5)).toEqual({ id: account, name: "main" });
      expect((await store.ensureAccount("other", at)).id).not.toBe(account);
    });

    it("counts answered and waiting writes, and how long transactions take", async () => {
      const { counters } = store;
      const timed = () => counters.commitSeconds.counts.reduce((sum, count) => sum + count, 0);
      const before = { ...counters, timed: timed() };
      const names = ["a", "b", "c"].map((each) => store.ensureAccount(each, at));
      await Promise.all(names);
      expect(counters.writes - before.writes).toBe(3);
      expect(counters.commits).toBeGreaterThan(before.commits);
      expect(timed() - before.timed).toBe(counters.commits - before.commits);
      expect(counters).toMatchObject({ waiting: 0, failed: 0 });
    });

    it("finds a token by the hash of its secret, and knows when it was revoked", async () => {
      const token = await store.addToken({ account, name: "home", hash: "h1", scope: wholeAccount, created: at });
      expect(await store.tokenByHash("h1")).toEqual({ ...token, accountName: "main", revoked: undefined });
      expect(await store.tokenByHash("h2")).toBeUndefined();
      expect(await store.revokeToken(token.id, at + 1)).toBe(true);
      expect(await store.revokeToken(token.id, at + 2)).toBe(false);
      expect((await store.tokenByHash("h1"))?.revoked).toBe(at + 1);
      expect(await store.tokens()).toHaveLength(1);
    });

    it("notifies of revoked access before the revocation is answered", async () => {
      const { id } = await store.addToken({ account, name: "home", hash: "h1", scope: wholeAccount, created: at });
      const heard: unknown[] = [];
      const first = Promise.withResolvers<void>();
      const end = store.onAccessChange(() => {
        heard.push("access");
        first.resolve();
      });
      await store.revokeToken(id, at + 1).then(() => heard.push("done"));
      await first.promise;
      expect(heard.indexOf("access")).toBeLessThan(heard.indexOf("done"));
      end();
    });

    it("creates each of its secrets once", async () => {
      const [one, again, other] = await Promise.all([store.secret("a"), store.secret("a"), store.secret("b")]);
      expect(one).toHaveLength(43);
      expect([again, other === one]).toEqual([one, false]);
    });

    it("keeps a secret that is given, until it is replaced", async () => {
      expect(await store.findSecret("given")).toBeUndefined();
      await store.replaceSecret("given", "one");
      await store.replaceSecret("given", "two");
      expect([await store.findSecret("given"), await store.secret("given")]).toEqual(["two", "two"]);
    });

    it("lists the tokens of all accounts, or the latest of one", async () => {
      const other = (await store.ensureAccount("other", at)).id;
      for (const [owner, name] of [
        [account, "a"],
        [other, "b"],
        [account, "c"],
        [account, "d"],
      ] as const)
        await store.addToken({ account: owner, name, hash: name, scope: wholeAccount, created: at });
      const names = async (...of: Parameters<typeof store.tokens>) =>
        (await store.tokens(...of)).map(({ name }) => name);
      expect(await names()).toEqual(["a", "b", "c", "d"]);
      expect(await names({ account })).toEqual(["a", "c", "d"]);
      expect(await names({ account, latest: 2 })).toEqual(["c", "d"]);
      expect(await names({ account, latest: 1, skip: 1 })).toEqual(["c"]);
      await store.revokeToken((await store.tokens({ account, latest: 1 }))[0]?.id ?? 0, at);
      expect(await names({ account, latest: 2, unrevoked: true })).toEqual(["a", "c"]);
      expect(await store.tokenCounts(account)).toEqual({ unrevoked: 2, revoked: 1 });
    });

    it("deletes tokens that ended 90 days ago, and those before the 1,000 that ended last", async () => {
      const add = (name: string, created: number, expires?: number) =>
        store.addToken({ account, name, hash: name, scope: { access: "read", ...(expires && { expires }) }, created });
      const day = 24 * 3_600_000;
      const old = await add("old", at);
      await store.revokeToken(old.id, at);
      await add("expired", at, at + day);
      await add("kept", at);
      const names = async () => (await store.tokens({ account })).map(({ name }) => name);
      await add("new", at + 90 * day);
      expect(await names()).toEqual(["old", "expired", "kept", "new"]);
      await add("newer", at + 90 * day + 1);
      expect(await names()).toEqual(["expired", "kept", "new", "newer"]);
      for (let i = 0; i < 1_001; i += 1) await add(`many ${i}`, at + 90 * day, at + 90 * day + 1);
      await add("last", at + 91 * day);
      expect((await names()).filter((name) => !name.startsWith("many"))).toEqual(["kept", "new", "newer", "last"]);
      expect((await store.tokens({ account })).length).toBe(1_004);
    });

    it("revokes no token of another account", async () => {
      const other = (await store.ensureAccount("other", at)).id;
      const { id } = await store.addToken({ account, name: "a", hash: "a", scope: wholeAccount, created: at });
      expect(await store.revokeToken(id, at, other)).toBe(false);
      expect(await store.revokeToken(id, at, account)).toBe(true);
    });

    it("stores the scope of a token", async () => {
      const scope = { access: "read", zones: ["example.org"] } as const;
      await store.addToken({ account, name: "narrow", hash: "h3", scope, created: at });
      expect((await store.tokenByHash("h3"))?.scope).toEqual(scope);
    });

    it("counts uses and stores the time of the last one", async () => {
      const { id, uses, lastUsed } = await store.addToken({
        account,
        name: "home",
        hash: "h1",
        scope: wholeAccount,
        created: at,
      });
      expect([uses, lastUsed]).toEqual([0, undefined]);
      for (let i = 1; i <= 3; i += 1) store.noteUse(id, at + i);
      expect(await store.tokens()).toMatchObject([{ uses: 3, lastUsed: at + 3 }]);
      store.noteUse(id, at + 9);
      expect(await store.tokens()).toMatchObject([{ uses: 4, lastUsed: at + 9 }]);
    });
  });
}

const at = Date.UTC(2026, 10, 15, 12);
