import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashSecret } from "../access/secret.ts";
import type { Scope } from "../core/may.ts";
import { actorOf } from "./authenticate.ts";
import { openSqliteStore, type SqliteStore } from "./store-sqlite.ts";

const now = Date.UTC(2026, 10, 15, 12);
let store: SqliteStore;
beforeEach(async () => {
  store = openSqliteStore(":memory:");
  await store.ensureAccount("main", now);
});
afterEach(() => store.close());

const newToken = (scope: Scope) =>
  store.addToken({ account: 1, name: "home", hash: hashSecret("secret"), scope, created: now });

describe("who shows a token", () => {
  it("is known by it, and its use is counted", async () => {
    const scope: Scope = { access: "read", expires: now + 1, networks: ["192.0.2.0/24"] };
    const { id } = await newToken(scope);
    expect(await actorOf(store, "secret", "192.0.2.7", now)).toEqual({
      ...{ account: 1, token: id, scope, from: "192.0.2.7" },
      label: `token ${id} (home)`,
    });
    expect(await store.tokens()).toMatchObject([{ uses: 1, lastUsed: now }]);
  });

  it.each<[string, Scope, string]>([
    ["is unknown", { access: "write" }, "another"],
    ["has expired", { access: "write", expires: now }, "secret"],
    ["is for other networks", { access: "write", networks: ["198.51.100.0/24"] }, "secret"],
  ])("that %s is nobody, and no use of it is counted", async (_, scope, secret) => {
    await newToken(scope);
    expect(await actorOf(store, secret, "192.0.2.7", now)).toBeUndefined();
    expect(await store.tokens()).toMatchObject([{ uses: 0 }]);
  });

  it("that was revoked is nobody", async () => {
    const { id } = await newToken({ access: "write" });
    await store.revokeToken(id, now);
    expect(await actorOf(store, "secret", "192.0.2.7", now)).toBeUndefined();
  });
});
