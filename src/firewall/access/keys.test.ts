import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { KeyStore } from "./keys.ts";
import { openAccess } from "./store.ts";

function openKeys(path: string) {
  const { keys, close } = openAccess(path);
  return Object.assign(keys, { close });
}

const now = new Date("2026-11-15T12:00:00Z");
const later = new Date("2026-11-16T12:00:00Z");

let path: string;
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), "moor-keys-")), "firewall.sqlite");
});

function open(): KeyStore & { readonly close: () => void } {
  const keys = openKeys(path);
  onTestFinished(() => keys.close());
  return keys;
}

const wanted = { name: "home", privileges: ["interface-status"], now } as const;

describe("keys", () => {
  it("have 80 characters, and so do their secrets, as in OPNsense", () => {
    const made = open().add(wanted);
    for (const part of [made.key, made.secret]) expect(part).toMatch(/^[A-Za-z0-9+/]{80}$/);
    expect(made.secret).not.toBe(made.key);
  });

  it("say when they were last used, without a write for every call", () => {
    const access = openAccess(path);
    onTestFinished(access.close);
    const { keys, version } = access;
    const { key, secret } = keys.add(wanted);
    const lastUsed = () => keys.list()[0]?.lastUsed;
    const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
    keys.check(key, "wrong", { now });
    expect(lastUsed()).toBeUndefined();
    keys.check(key, secret, { now });
    expect(lastUsed()).toEqual(now);
    const before = version();
    for (const minutes of [0, 1, 4]) keys.check(key, secret, { now: at(minutes) });
    expect([lastUsed(), version()]).toEqual([now, before]);
    // A stream counts as a use for as long as it is open.
    keys.stillGood(key, { now: at(6) });
    expect(lastUsed()).toEqual(at(6));
  });

  it("are valid only with their own secret", () => {
    const keys = open();
    const [one, other] = [keys.add(wanted), keys.add(wanted)];
    expect(keys.check(one.key, one.secret)).toEqual({
      key: one.key,
      name: "home",
      privileges: ["interface-status"],
      created: now,
    });
    for (const secret of [other.secret, "", one.key, one.secret.slice(1), `${one.secret}x`])
      expect(keys.check(one.key, secret)).toBeUndefined();
  });

  it.each(["", "unknown", "' OR 1=1 --", "\u0000"])("an unknown key %j is refused", (key) => {
    expect(open().check(key, "secret")).toBeUndefined();
  });

  it("leave no secret in the file, only salted hashes", async () => {
    const keys = openKeys(path);
    const made = keys.add(wanted);
    keys.close();
    const reader = new DatabaseSync(path);
    const row = reader.prepare("SELECT secret_hash FROM api_keys").get();
    reader.close();
    expect(row?.secret_hash).toMatch(/^sha256\$[\w-]{22}\$[\w-]{43}$/);
    expect((await readFile(path)).includes(made.secret)).toBe(false);
  });

  it("added or revoked by another process take effect immediately", () => {
    const [service, command] = [open(), open()];
    const made = command.add(wanted);
    expect(service.check(made.key, made.secret)).toBeDefined();
    command.revoke(made.key, later);
    expect(service.check(made.key, made.secret)).toBeUndefined();
  });

  it("are found again after a restart", () => {
    const first = openKeys(path);
    const made = first.add({ ...wanted, privileges: ["all"] });
    first.close();
    const second = open();
    expect(second.check(made.key, made.secret)?.privileges).toEqual(["all"]);
    expect(second.list().map(({ key }) => key)).toEqual([made.key]);
  });

  it("may have no privilege at all", () => {
    const keys = open();
    const made = keys.add({ ...wanted, privileges: [] });
    expect(keys.check(made.key, made.secret)?.privileges).toEqual([]);
  });

  it("are listed, including revoked ones", () => {
    const keys = open();
    const made = keys.add(wanted);
    keys.revoke(made.key, later);
    expect(keys.list()).toEqual([
      { key: made.key, name: "home", privileges: ["interface-status"], created: now, revoked: later },
    ]);
  });
});

describe("revoke", () => {
  it("accepts the beginning of one key", () => {
    const keys = open();
    const made = keys.add(wanted);
    expect(keys.revoke(made.key.slice(0, 12), later)).toMatchObject({ kind: "revoked", key: { key: made.key } });
    expect(keys.revoke(made.key, now)).toMatchObject({ kind: "already-revoked", key: { revoked: later } });
  });

  it("changes nothing if several keys have that beginning", () => {
    const keys = open();
    const made = Array.from({ length: 65 }, () => keys.add(wanted));
    const initials = made.map(({ key }) => key.charAt(0));
    const shared = initials.find((initial, at) => initials.indexOf(initial) !== at) ?? "";
    expect(keys.revoke(shared, later)).toMatchObject({ kind: "several" });
    expect(keys.list().filter(({ revoked }) => revoked)).toEqual([]);
  });

  it.each(["", "nothing-like-it", "%", "_"])("%j is unknown", (text) => {
    const keys = open();
    keys.add(wanted);
    expect(keys.revoke(text, later)).toEqual({ kind: "unknown" });
  });
});

describe("the file", () => {
  it("is for its owner only", async () => {
    open().add(wanted);
    for (const name of [path, `${path}-wal`]) expect((await stat(name)).mode & 0o077).toBe(0);
  });

  it("prevents the start if it is damaged, and says what to do", async () => {
    await writeFile(path, "this is no database, it is a text of some length ".repeat(100));
    expect(() => openKeys(path)).toThrow(/firewall\.sqlite.*\n.*good copy/);
  });

  it("prevents the start if a page inside it is damaged", async () => {
    const keys = openKeys(path);
    for (let count = 0; count < 200; count++) keys.add(wanted);
    keys.close();
    const bytes = await readFile(path);
    bytes.fill(0xa5, 4096 * 2, 4096 * 6);
    await writeFile(path, bytes);
    expect(() => openKeys(path)).toThrow(/firewall\.sqlite/);
  });

  it("prevents the start if a newer moor wrote it", () => {
    openKeys(path).close();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(() => openKeys(path)).toThrow(/newer moor/);
  });
});
