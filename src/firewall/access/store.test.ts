import { scryptSync } from "node:crypto";
import { mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { cheapPasswords } from "../../../test/rig/cheap-passwords.ts";
import type { PasswordCost } from "../../access/password.ts";
import { type AccessStore, openAccess } from "./store.ts";
import type { UserChange } from "./users.ts";

const now = new Date("2026-11-15T12:00:00Z");
const later = new Date("2026-11-16T12:00:00Z");

let path: string;
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), "moor-access-")), "firewall.sqlite");
});

function open(passwordCost?: PasswordCost): AccessStore {
  const access = openAccess(path, passwordCost);
  onTestFinished(access.close);
  return access;
}

describe("users", () => {
  it("are added, found, changed and removed", () => {
    const { users } = open();
    expect(users.add({ name: "anna", privileges: ["overview"], fullName: "Anna", now })).toBe(true);
    expect(users.add({ name: "anna", now })).toBe(false);
    expect(users.find("anna")).toEqual({
      name: "anna",
      fullName: "Anna",
      disabled: false,
      privileges: ["overview"],
      networks: [],
      hasPassword: false,
      created: now,
    });
    expect(users.change("anna", { expires: later })).toBe(true);
    expect(users.change("anna", { privileges: [] })).toBe(true);
    expect(users.find("anna")).toMatchObject({ fullName: "Anna", expires: later, privileges: [] });
    users.change("anna", { expires: "never" });
    expect(users.find("anna")).not.toHaveProperty("expires");
    expect(users.remove("anna")).toBe(true);
    expect([users.find("anna"), users.change("anna", {}), users.remove("anna")]).toEqual([undefined, false, false]);
  });

  it("have keys that are removed with them", () => {
    const { users, keys } = open();
    users.add({ name: "anna", privileges: ["overview"], now });
    const key = keys.addFor("anna", undefined, now);
    const opens = (at = now) => keys.check(key?.key ?? "", key?.secret ?? "", { now: at })?.privileges;
    expect(opens()).toEqual(["overview"]);
    users.change("anna", { disabled: true });
    expect(opens()).toBeUndefined();
    expect(keys.stillGood(key?.key ?? "", { now })).toBeUndefined();
    users.change("anna", { disabled: false, expires: later });
    expect([opens(), opens(later)]).toEqual([["overview"], undefined]);
    users.change("anna", { privileges: ["gateways"] });
    expect(opens()).toEqual(["gateways"]);
    users.remove("anna");
    expect(opens()).toBeUndefined();
    expect(keys.list()).toEqual([]);
  });

  it.each<[string, UserChange, boolean, object]>([
    ["disabled", { disabled: true }, false, { kind: "disabled", name: "anna" }],
    ["past the expiry date", { expires: now }, false, { kind: "expired", name: "anna" }],
    ["disabled and past the expiry date", { expires: now, disabled: true }, false, { kind: "disabled", name: "anna" }],
    ["revoked", {}, true, { kind: "revoked", name: "anna" }],
    ["good", {}, false, { kind: "unknown" }],
  ])("the reason that a key is refused, %s, is given only for the right secret", (_, change, revoked, expected) => {
    const { users, keys } = open();
    users.add({ name: "anna", now, ...change });
    const { key = "", secret = "" } = keys.addFor("anna", undefined, now) ?? {};
    if (revoked) keys.revoke(key, now);
    expect(keys.whyRefused(key, secret, now)).toEqual(expected);
    expect(keys.whyRefused(key, "wrong", now)).toEqual({ kind: "unknown" });
    expect(keys.whyRefused("wrong", secret, now)).toEqual({ kind: "unknown" });
  });

  it("have their privileges only in their networks, and lists show them all the same", () => {
    const { users, keys } = open();
    users.add({ name: "anna", privileges: ["overview"], networks: ["192.0.2.0/24"], now });
    const key = keys.addFor("anna", undefined, now);
    const opens = (from: string) => keys.check(key?.key ?? "", key?.secret ?? "", { from, now })?.privileges;
    expect([opens("192.0.2.1"), opens("198.51.100.1")]).toEqual([["overview"], []]);
    expect(keys.list()).toMatchObject([{ privileges: ["overview"] }]);
    users.change("anna", { networks: [] });
    expect(opens("198.51.100.1")).toEqual(["overview"]);
  });

  it("cannot get a key if they do not exist", () => {
    expect(open().keys.addFor("nobody", undefined, now)).toBeUndefined();
  });

  it("sign in with their password unless they are disabled or expired", async () => {
    const { users } = open(cheapPasswords);
    users.add({ name: "anna", now });
    const logsIn = async (password: string, at = now) => {
      const found = await users.checkPassword("anna", password, at);
      return typeof found === "object" ? found.name : found;
    };
    expect(await logsIn("")).toBeUndefined();
    expect(await users.setPassword("anna", "correct horse")).toBe(true);
    expect(await users.setPassword("nobody", "correct horse")).toBe(false);
    expect(await logsIn("correct horse")).toBe("anna");
    expect(await logsIn("wrong")).toBeUndefined();
    expect(users.find("anna")?.hasPassword).toBe(true);
    users.change("anna", { expires: now });
    expect([await logsIn("correct horse"), await logsIn("wrong")]).toEqual(["expired", undefined]);
    users.change("anna", { disabled: true });
    expect([await logsIn("correct horse"), await logsIn("wrong")]).toEqual(["disabled", undefined]);
    expect(await users.checkPassword("nobody", "correct horse", now)).toBeUndefined();
  });

  it("have their password rehashed at the current cost when they sign in", async () => {
    const { users } = open(cheapPasswords);
    users.add({ name: "anna", now });
    const hash = scryptSync("correct horse", Buffer.from("saltsaltsaltsalt"), 32, { N: 512, r: 8, p: 1 });
    const database = new DatabaseSync(path);
    const old = `scrypt$512$8$1$c2FsdHNhbHRzYWx0c2FsdA$${hash.toString("base64url")}`;
    database.prepare("UPDATE users SET password_hash = ?").run(old);
    const stored = () => database.prepare("SELECT password_hash AS hash FROM users").get()?.hash;
    expect(await users.checkPassword("anna", "wrong", now)).toBeUndefined();
    expect(stored()).toBe(old);
    for (let i = 0; i < 2; i += 1) {
      expect(await users.checkPassword("anna", "correct horse", now)).toMatchObject({ name: "anna" });
    }
    expect(stored()).toMatch(/^scrypt\$1024\$8\$1\$/);
    database.close();
  });
});

describe("sign-ins", () => {
  const soon = new Date(now.getTime() + 600_000);
  const signedIn = { at: now, actor: "anna", source: "192.0.2.1", action: "signed in", failed: false };

  it("are one entry with a number if they repeat within an hour, also from another address of the same network", () => {
    const { signIns } = open();
    signIns.note({ ...signedIn, source: "2001:db8::1" });
    signIns.note({ ...signedIn, source: "2001:db8::2", at: soon });
    expect(signIns.latest(10)).toEqual([{ ...signedIn, source: "2001:db8::2", at: soon, times: 2 }]);
    const nextDay = new Date(soon.getTime() + 86_400_000);
    signIns.note({ ...signedIn, source: "2001:db8::2", at: nextDay });
    expect(signIns.latest(10).map(({ times }) => times)).toEqual([1, 2]);
  });

  it("stay when strangers fail from thousands of addresses, and those are limited in number", () => {
    const { signIns, audit } = openAccess(":memory:");
    audit.note({ name: "anna", source: "192.0.2.1" }, "key added", "x…", now);
    signIns.note(signedIn);
    const failed = { ...signedIn, actor: "unknown name", action: "sign-in refused", failed: true, at: soon };
    for (let i = 0; i < 1_100; i++) signIns.note({ ...failed, source: `10.0.${i >> 8}.${i & 255}` });
    const all = signIns.latest(5_000);
    expect(all).toHaveLength(1_001);
    expect(all.at(-1)).toEqual({ ...signedIn, times: 1 });
    expect(audit.latest(10)).toHaveLength(1);
  });
});

describe("audit", () => {
  it("has the latest first, and is limited in size", () => {
    const { audit } = open();
    const actor = { name: "anna", source: "192.0.2.1" };
    expect(audit.latest(10)).toEqual([]);
    audit.note(actor, "key added", "x…", now);
    audit.note(actor, "key deleted", "x…", later);
    expect(audit.latest(10)).toEqual([
      { at: later, actor: "anna", source: "192.0.2.1", action: "key deleted", subject: "x…" },
      { at: now, actor: "anna", source: "192.0.2.1", action: "key added", subject: "x…" },
    ]);
    expect(audit.latest(1)).toHaveLength(1);
  });
});

describe("the file", () => {
  it("is not taken for a new database if it is there and empty", async () => {
    await writeFile(path, "");
    expect(() => openAccess(path)).toThrow(/cannot be used: the file is empty\nNothing was changed\. .*good copy/);
    expect((await stat(path)).size).toBe(0);
  });

  it("has a write-ahead log in proportion to it", async () => {
    const { users, signIns } = open();
    users.add({ name: "anna", now });
    // Each takes some pages of the log: without a limit of its own, it would have 2.6 MB by then.
    for (let i = 0; i < 600; i++)
      signIns.note({
        at: new Date(now.getTime() + i),
        actor: "anna",
        source: `10.0.${i >> 8}.${i & 255}`,
        action: "x",
        failed: true,
      });
    expect((await stat(`${path}-wal`)).size).toBeLessThan(1.5 * 1024 * 1024);
  });
});
