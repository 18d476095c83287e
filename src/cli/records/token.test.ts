import { mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { hashSecret } from "../../access/secret.ts";
import { plainSettings } from "../../records/model.ts";
import { recordsDatabase } from "../../records/open-store.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";
import { readTokenScope } from "./token-scope.ts";

const now = Date.UTC(2026, 10, 15);
const nothing = { zone: [], set: [], type: [], from: [] };

describe("the scope of a token, from options", () => {
  it.each([
    ["nothing", {}, { access: "write" }],
    ["read only", { readOnly: true }, { access: "read" }],
    ["zones", { zone: ["Example.ORG.", "b.example"] }, { access: "write", zones: ["example.org", "b.example"] }],
    ["a zone in Unicode", { zone: ["bücher.example"] }, { access: "write", zones: ["xn--bcher-kva.example"] }],
    [
      "a name and types",
      { set: ["home a,AAAA"] },
      { access: "write", sets: [{ owner: "home", types: ["A", "AAAA"] }] },
    ],
    ["a name", { set: ["Home"] }, { access: "write", sets: [{ owner: "home" }] }],
    ["the apex", { set: ["@ A"] }, { access: "write", sets: [{ owner: "@", types: ["A"] }] }],
    [
      "a name with its zone, with a dot and without",
      { zone: ["example.org"], set: ["home.example.org A", "WWW.example.org.", "example.org"] },
      {
        access: "write",
        zones: ["example.org"],
        sets: [{ owner: "home", types: ["A"] }, { owner: "www" }, { owner: "@" }],
      },
    ],
    [
      "a name in Unicode",
      { set: ["größe TXT"] },
      { access: "write", sets: [{ owner: "xn--gre-6ka8i", types: ["TXT"] }] },
    ],
    ["types at any name", { type: ["TXT,CAA"] }, { access: "write", sets: [{ types: ["TXT", "CAA"] }] }],
    [
      "networks",
      { from: ["192.0.2.0/24", "2001:db8::1"] },
      { access: "write", networks: ["192.0.2.0/24", "2001:db8::1"] },
    ],
    ["a time from now", { expires: "90d" }, { access: "write", expires: now + 90 * 86_400_000 }],
    ["a day, to its end", { expires: "2026-12-31" }, { access: "write", expires: Date.UTC(2027, 0, 1) }],
    ["a moment", { expires: "2026-12-31T10:00:00Z" }, { access: "write", expires: Date.UTC(2026, 11, 31, 10) }],
    [
      "a moment without a zone, in UTC",
      { expires: "2026-12-31T10:00" },
      { access: "write", expires: Date.UTC(2026, 11, 31, 10) },
    ],
    [
      "a moment elsewhere",
      { expires: "2026-12-31T10:00+02:00" },
      { access: "write", expires: Date.UTC(2026, 11, 31, 8) },
    ],
  ])("takes %s", (_, typed, scope) => {
    expect(readTokenScope({ ...nothing, ...typed }, now)).toEqual({ ok: true, value: scope });
  });

  it("reports all faults together, each with its option", () => {
    const typed = {
      zone: ["localhost"],
      set: ["", "a b c", "home NOPE", "x.other.example. A"],
      type: ["ANY"],
      from: ["192.0.2.0/33"],
      expires: "2020-01-01",
    };
    const read = readTokenScope(typed, now);
    expect(read.ok ? [] : read.faults.map((fault) => fault.where)).toEqual([
      "--zone localhost",
      "--set ",
      "--set a b c",
      "--set home NOPE",
      "--set x.other.example. A",
      "--type",
      "--from 192.0.2.0/33",
      "--expires 2020-01-01",
    ]);
  });

  it.each(["soon", "40", "2049", "90 d", "12/31/2099", "2099-02-31", "2099-02-31T10:00Z"])(
    "does not guess what an end of %s may mean",
    (expires) => {
      const read = readTokenScope({ ...nothing, expires }, now);
      expect(read.ok ? [] : read.faults.map((fault) => fault.message)).toEqual([
        "must be a time from now such as 90d, a day such as 2027-12-31, or a time such as 2027-12-31T18:00:00Z",
      ]);
    },
  );
});

describe("moor token", () => {
  let folder: string;
  let { io, printed: texts } = openTerminal("/");
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "moor-token-"));
    ({ io, printed: texts } = openTerminal(folder));
  });
  const moor = (...words: readonly string[]) => runMoor([...words, "--data", folder], io);

  it("creates a token of 32 letters and digits, or of 64, and says what it may do", async () => {
    expect(
      await moor("token", "add", "--new", "--zone", "example.org", "--set", "home A", "--expires", "2099-01-01"),
    ).toBe(0);
    expect(texts.out).toMatch(/^[A-Za-z0-9]{32}\n$/);
    expect(texts.err).toContain("may read and write home A in example.org until 2099-01-02 00:00.");
    texts.out = "";
    await moor("token", "add", "--new", "--long");
    expect(texts.out).toMatch(/^[A-Za-z0-9]{64}\n$/);
  });

  it("warns about a zone that does not exist, and says how to revoke the token", async () => {
    const store = openSqliteStore(recordsDatabase(folder));
    const { id: account } = await store.ensureAccount("main", 0);
    const zone = {
      account,
      id: "z",
      name: "here.example",
      settings: plainSettings(60),
      serial: 1,
      created: 0,
      sets: [],
    };
    await createZoneIn(store, zone, "tester");
    store.close();
    await moor("token", "add", "--new", "--zone", "here.example", "--set", "www.here.example A");
    await moor("token", "add", "--new", "--set", "www A", "--set", "a.b A");
    expect(texts.err).not.toContain("a mistake");
    await moor("token", "add", "--new", "--zone", "here.example", "--zone", "hier.example");
    expect(texts.err).toContain(
      `The account has no zone hier.example yet; if that is a mistake, run: moor token revoke --data ${folder} 3\n`,
    );
    await moor("token", "add", "--new", "--set", "www.here.example A");
    expect(texts.err).toContain(
      "Without --zone, www.here.example is relative to each zone; for www in here.example, add --zone here.example; " +
        `if that is a mistake, run: moor token revoke --data ${folder} 4\n`,
    );
  });

  it.each([
    ["--name", ""],
    ["--name", "x".repeat(101)],
    ["--name", "two\nlines"],
    ["--account", "two\nlines"],
  ])("refuses a %s that the console would refuse, or that breaks a list: %j", async (option, text) => {
    expect(await moor("token", "add", "--new", option, text)).toBe(2);
    expect(texts.err).toContain(`option '${option} <`);
    expect(texts.out).toBe("");
  });

  it("says for each wrong option what to write instead", async () => {
    expect(await moor("token", "add", "--new", "--zone", "org", "--set", "a..b A")).toBe(2);
    expect(texts.err).toBe(
      "--zone org: a zone's name must have at least two labels; enter a name such as example.org\n" +
        "--set a..b A: a label is empty: a dot at the start, or two dots in a row; remove the extra dot\n",
    );
  });

  it("lists when each was last used and how often, and what has expired", async () => {
    await moor("token", "add", "--new", "--name", "used");
    await moor("token", "add", "--new", "--name", "unused", "--from", "192.0.2.0/24");
    const secret = texts.out.split("\n")[0] ?? "";
    const store = openSqliteStore(recordsDatabase(folder));
    const token = await store.tokenByHash(hashSecret(secret));
    for (let i = 0; i < 3; i += 1) store.noteUse(token?.id ?? 0, Date.UTC(2026, 10, 15, 12, 30));
    const { account = 0, name = "" } = token ?? {};
    const past = { account, name, hash: "h", scope: { access: "read" as const, expires: 1 }, created: 0 };
    await store.addToken(past);
    store.close();
    texts.out = "";
    await moor("token", "list");
    expect(texts.out).toMatch(/used .* 2026-11-15 12:30 +3 +valid/);
    expect(texts.out).toMatch(/unused .* from 192\.0\.2\.0\/24 .* never +0 +valid/);
    expect(texts.out).toMatch(/read all its zones until .* expired/);
    texts.out = "";
    await moor("token", "list", "--json");
    expect(JSON.parse(texts.out)[0]).toMatchObject({ uses: 3, last_used: "2026-11-15T12:30:00.000Z", revoked: null });
  });

  it.each([
    ["token", ["token", "add", "--new", "--name", "lost"]],
    ["transfer key", ["transfer-key", "add", "--new", "lost"]],
    ["key of the firewall", ["key", "add", "--new", "--name", "lost"]],
  ])("revokes the %s if its file cannot be written, and says what to do", async (_, add) => {
    const [kind = ""] = add;
    expect(await moor(...add, "--to", "nowhere/secret")).toBe(1);
    expect(texts.err).toContain(`there is no folder ${join(folder, "nowhere")}; create it first, or give another path`);
    await moor(kind, "list");
    expect(texts.out).toMatch(/lost .* revoked\n$/);
  });

  const adding: [kind: string, words: string[]][] = [
    ["token", ["token", "add", "--new"]],
    ["transfer key", ["transfer-key", "add", "--new", "new"]],
    ["key of the firewall", ["key", "add", "--new"]],
  ];
  it.each(adding)("creates no %s if its file already exists", async (_, add) => {
    await writeFile(join(folder, "in-use"), "a secret");
    expect(await moor(...add, "--to", "in-use")).toBe(2);
    expect(texts.err).toBe(
      "in-use already exists, and may contain a secret in use; give another file, or remove that one.\n",
    );
    expect(await readdir(folder)).toEqual(["in-use"]);
    expect(await readFile(join(folder, "in-use"), "utf8")).toBe("a secret");
  });

  it.each(adding)("writes a %s to an empty file, as from mktemp", async (_, add) => {
    await writeFile(join(folder, "empty"), "");
    expect(await moor(...add, "--to", "empty")).toBe(0);
    expect(await readFile(join(folder, "empty"), "utf8")).not.toBe("");
  });

  it("replaces an old token in its file; the old one stays valid until it is revoked", async () => {
    await moor("token", "add", "--new", "--to", "token");
    const old = await readFile(join(folder, "token"), "utf8");
    expect(await moor("token", "add", "--new", "--long", "--to", "token")).toBe(0);
    expect(await readFile(join(folder, "token"), "utf8")).not.toBe(old);
    await moor("token", "list");
    expect(texts.out.match(/valid$/gm)).toHaveLength(2);
  });

  it("creates no secret for what is not a regular file, and does not suggest removing it", async () => {
    expect(await moor("token", "add", "--new", "--to", "/dev/null")).toBe(2);
    expect(texts.err).toBe("/dev/null is not a regular file; give a new one, or omit --to to show the secret.\n");
    expect(await readdir(folder)).toEqual([]);
  });

  it("says which path cannot be read, and creates no secret", async () => {
    await symlink("loop", join(folder, "loop"));
    expect(await moor("token", "add", "--new", "--to", "loop/token")).toBe(1);
    expect(texts.err).toBe(`moor: ${join(folder, "loop/token")} cannot be written (ELOOP); give another path\n`);
    expect(await readdir(folder)).toEqual(["loop"]);
  });

  it("does not overwrite a file that another command has just created", async () => {
    const add = () => moor("token", "add", "--new", "--to", "same");
    expect((await Promise.all([add(), add()])).filter((code) => code === 0)).toHaveLength(1);
    await moor("token", "list");
    expect(texts.out.match(/valid$/gm)).toHaveLength(1);
  });

  it("leaves no empty file if a secret cannot be written", async () => {
    // The name of its draft is too long for the file system.
    expect(await moor("token", "add", "--new", "--to", "t".repeat(250))).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith("t"))).toEqual([]);
  });

  it("says what is wrong, and creates nothing", async () => {
    expect(await moor("token", "add", "--new", "--set", "home NOPE", "--from", "here")).toBe(2);
    expect(texts.err).toBe(
      '--set home NOPE: "NOPE" is not a record type\n' +
        "--from here: must be a network such as 192.0.2.0/24 or 2001:db8::/32, or one address\n",
    );
    await moor("token", "list");
    expect(texts.err).toMatch(/there is no (?:folder|records\.sqlite)/);
  });
});
