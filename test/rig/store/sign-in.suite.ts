import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConsoleStore } from "../../../src/records/store/console-store.ts";

type OpenedConsole = { readonly console: Pick<ConsoleStore, "sessions" | "passkeys">; close(): void | Promise<void> };

/** What every store does with sessions from an identity provider and with passkeys. `open` returns an empty one. */
export function describeSignIn(name: string, open: () => Promise<OpenedConsole>): void {
  describe(`${name}, ways to sign in`, () => {
    let opened: OpenedConsole;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    const browser = { who: "1", from: "192.0.2.1", agent: "a browser", created: at };
    const ticket = { sealed: "sealed", confirmed: at, asked: at };

    it("keeps the role and the ticket of a session, and has neither for others", async () => {
      const { sessions } = opened.console;
      await sessions.add({ ...browser, hash: "a", role: "read", ticket });
      await sessions.add({ ...browser, hash: "b" });
      expect(await sessions.byHash("a")).toMatchObject({ role: "read", ticket });
      expect(await sessions.byHash("b")).toMatchObject({ role: undefined, ticket: undefined });
    });

    it("lets one of several requests ask the provider, and stores what it said", async () => {
      const { sessions } = opened.console;
      const { id } = await sessions.add({ ...browser, hash: "a", ticket });
      const claims = [1, 2, 3].map(() => sessions.claimCheck(id, { before: at, now: at + 9 }));
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
      await sessions.noteConfirmed(id, { sealed: "newer", confirmed: at + 9 });
      const renewed = { sealed: "newer", confirmed: at + 9, asked: at + 9 };
      expect((await sessions.byHash("a"))?.ticket).toEqual(renewed);
    });

    it("drops sessions that were not confirmed for too long, and no others", async () => {
      const { sessions } = opened.console;
      await sessions.add({ ...browser, hash: "a", ticket });
      await sessions.add({ ...browser, hash: "b", ticket: { ...ticket, confirmed: at + 5 } });
      await sessions.add({ ...browser, hash: "c" });
      await sessions.dropOld({ seenBefore: at - 1, confirmedBefore: at + 1, now: at });
      const left = await sessions.of("1");
      expect(left.map(({ hash }) => hash).toSorted()).toEqual(["b", "c"]);
    });

    it("has passkeys by id and by user, counts each challenge once, and removes only those of the user", async () => {
      const { passkeys } = opened.console;
      const passkey = { id: "k", who: "1", site: "dns.example.org", name: "Phone", publicKey: "p", counter: 0 };
      await passkeys.add({ ...passkey, created: at, used: at });
      expect(await passkeys.byId("k")).toEqual({ ...passkey, created: at, used: at });
      expect(await passkeys.byId("other")).toBeUndefined();
      const uses = [1, 2, 3].map(() => passkeys.noteUsed("k", { counter: 7, used: at + 1 }));
      expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1);
      expect(await passkeys.noteUsed("k", { counter: 9, used: at })).toBe(false);
      expect(await passkeys.of("1")).toMatchObject([{ counter: 7, used: at + 1 }]);
      expect(await passkeys.remove("2", "k")).toBe(false);
      expect(await passkeys.remove("1", "k")).toBe(true);
      expect(await passkeys.of("1")).toEqual([]);
    });
  });
}

const at = 1_800_000_000_000;
