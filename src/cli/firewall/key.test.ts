import { mkdir, mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { keysFile, openAccess } from "../../firewall/access/store.ts";
import type { CommandIo } from "../io/command-io.ts";
import { runMoor } from "../program.ts";
import { keyAdd, keyList, keyRevoke } from "./key.ts";
import { userAdd, userChange } from "./user.ts";

let cwd: string;
let text: { out: string; err: string };
let io: CommandIo;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "moor-key-"));
  await mkdir(join(cwd, data));
  openAccess(keysFile(join(cwd, data))).close();
  ({ io, printed: text } = openTerminal(cwd));
});

const data = "data";
const added = { new: true, data, name: "home", privilege: ["interface-status"] } as const;
const download = /^key=([A-Za-z0-9+/]{80})\nsecret=([A-Za-z0-9+/]{80})\n$/;

function check(key = "", secret = "") {
  const { keys, close } = openAccess(keysFile(join(cwd, data)));
  try {
    return keys.check(key, secret);
  } finally {
    close();
  }
}

describe("moor key add", () => {
  it.each([
    [
      "disabled",
      { disable: true },
      "It is invalid: its user is disabled; to change that: moor user change --data data anna --enable\n",
    ],
    ["expired", { expires: "2020-01-31" }, "moor user change --data data anna --expires never\n"],
  ])("says that the key is invalid while its user is %s", async (_, change, said) => {
    await userAdd("anna", { data, new: true, privilege: ["overview"], network: [] }, io);
    await userChange("anna", { data, privilege: [], network: [], ...change }, io);
    expect(await keyAdd({ data, name: "unnamed", user: "anna", privilege: [] }, io)).toBe(0);
    expect(text.err).toContain(said);
  });

  it("prints a command to paste, also for a name of two words", async () => {
    await keyAdd({ ...added, name: "moor up" }, io);
    await userChange("moor up", { data, privilege: [], network: [], disable: true }, io);
    await keyAdd({ ...added, name: "moor up" }, io);
    expect(text.err).toContain("to change that: moor user change --data data 'moor up' --enable\n");
  });

  it.each(["", " ", "a\u{1b}[2J", "x".repeat(101)])("refuses a name that lists could not show: %j", async (name) => {
    expect(await runMoor(["key", "add", "--new", "--data", data, "--name", name], io)).toBe(2);
    expect(text.err).toContain("It must be a name of at most 100 characters, without control characters.");
  });

  it("shows the key and its secret once, and they work", async () => {
    expect(await keyAdd(added, io)).toBe(0);
    const [, key, secret] = download.exec(text.out) ?? [];
    expect(check(key, secret)).toMatchObject({ name: "home", privileges: ["interface-status"] });
    expect(text.err).toContain("only time");
  });

  it("writes the download of OPNsense to a file that only its owner can read", async () => {
    expect(await keyAdd({ ...added, privilege: ["all"], to: "apikey.txt" }, io)).toBe(0);
    const file = join(cwd, "apikey.txt");
    const [, key, secret] = download.exec(await readFile(file, "utf8")) ?? [];
    expect(check(key, secret)?.privileges).toEqual(["all"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(text.out).toBe("");
    expect(text.err).not.toContain(secret);
  });

  it("does not overwrite an existing file", async () => {
    await writeFile(join(cwd, "apikey.txt"), "key=old\n");
    expect(await keyAdd({ ...added, to: "apikey.txt" }, io)).toBe(2);
    expect(await readFile(join(cwd, "apikey.txt"), "utf8")).toBe("key=old\n");
    await keyList({ data, json: true }, io);
    expect(JSON.parse(text.out)).toEqual([]);
  });

  it("revokes the key if the file cannot be written", async () => {
    await expect(keyAdd({ ...added, to: "no/such/folder/apikey.txt" }, io)).rejects.toThrow(/there is no folder/);
    await keyList({ data, json: true }, io);
    expect(JSON.parse(text.out)).toMatchObject([{ name: "home", revoked: expect.stringContaining("T") }]);
  });
});

describe("moor key list", () => {
  it("says how to create the first key", async () => {
    expect(await keyList({ data }, io)).toBe(0);
    expect(text.out).toContain("moor key add");
  });

  it("never shows a secret, for people and for programs", async () => {
    await keyAdd(added, io);
    const [, key = "", secret = ""] = download.exec(text.out) ?? [];
    text.out = "";
    await keyList({ data }, io);
    expect(text.out).toContain(`${key.slice(0, 12)}…`);
    expect(text.out).toMatch(/home +interface-status +20\d\d-\d\d-\d\d \d\d:\d\d +valid/);
    await keyList({ data, json: true }, io);
    expect(text.out).toContain(JSON.stringify(key));
    expect(text.out).not.toContain(secret);
  });
});

describe("moor key revoke", () => {
  it("revokes a key by the first characters, as the list shows them", async () => {
    await keyAdd(added, io);
    const [, key = "", secret] = download.exec(text.out) ?? [];
    expect(await keyRevoke(`${key.slice(0, 12)}…`, { data }, io)).toBe(0);
    expect(check(key, secret)).toBeUndefined();
    expect(await keyRevoke(key, { data }, io)).toBe(0);
    expect(text.err).toContain("already revoked");
  });

  it("revokes nothing for a few characters, even if only one key starts with them", async () => {
    await keyAdd(added, io);
    const [, key = "", secret] = download.exec(text.out) ?? [];
    expect(await keyRevoke(key.slice(0, 7), { data }, io)).toBe(1);
    expect(text.err).toContain(`${key.slice(0, 7)} is too short`);
    expect(check(key, secret)).toBeDefined();
    expect(await keyRevoke(key.slice(0, 8), { data }, io)).toBe(0);
    expect(text.out).toContain(`Revoked key ${key.slice(0, 12)}… (home).\n`);
  });

  it("says that there is no such key, and how to list the keys", async () => {
    expect(await keyRevoke("nothing", { data }, io)).toBe(1);
    expect(text.err).toBe("There is no key nothing; moor key list --data data lists the existing ones.\n");
  });
});
