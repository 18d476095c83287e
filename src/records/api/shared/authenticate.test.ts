import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashSecret } from "../../../access/secret.ts";
import type { Scope } from "../../../core/may.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/store.ts";
import { authenticate } from "./authenticate.ts";

const now = Date.UTC(2026, 10, 15, 12);
let store: SqliteStore;
beforeEach(async () => {
  store = openSqliteStore(":memory:");
  await store.ensureAccount("main", now);
});
afterEach(() => store.close());

const caller = { ip: "192.0.2.7", socket: {} };
const newToken = (scope: Scope) =>
  store.addToken({ account: 1, name: "home", hash: hashSecret("secret"), scope, created: now });

describe("a caller with a token", () => {
  it("is identified by it, and its use is counted", async () => {
    const scope: Scope = { access: "read", expires: now + 1, networks: ["192.0.2.0/24"] };
    const { id } = await newToken(scope);
    expect(await authenticate(store, "secret", caller, now)).toEqual({
      account: 1,
      token: id,
      scope,
      from: "192.0.2.7",
      label: `token ${id} (home)`,
    });
    expect(await store.tokens()).toMatchObject([{ uses: 1, lastUsed: now }]);
  });

  it.each<[string, Scope, string]>([
    ["is unknown", { access: "write" }, "another"],
    ["has expired", { access: "write", expires: now }, "secret"],
    ["is for other networks", { access: "write", networks: ["198.51.100.0/24"] }, "secret"],
  ])("that %s is unknown, and no use is counted", async (_, scope, secret) => {
    await newToken(scope);
    expect(await authenticate(store, secret, caller, now)).toBeUndefined();
    expect(await store.tokens()).toMatchObject([{ uses: 0 }]);
  });

  it("that was revoked is unknown, also on a connection on which it was valid before", async () => {
    const { id } = await newToken({ access: "write" });
    expect(await authenticate(store, "secret", caller, now)).toBeDefined();
    await store.revokeToken(id, now);
    expect(await authenticate(store, "secret", caller, now)).toBeUndefined();
  });

  it("is distinguished from others on the same connection", async () => {
    const { id } = await newToken({ access: "write" });
    for (let i = 0; i < 40; i++) expect(await authenticate(store, `other ${i}`, caller, now)).toBeUndefined();
    expect(await authenticate(store, "secret", caller, now)).toMatchObject({ token: id });
    expect(await authenticate(store, "other 39", caller, now)).toBeUndefined();
  });
});
