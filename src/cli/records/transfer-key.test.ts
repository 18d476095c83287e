import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";
import { readTransferFlags } from "./transfer-flags.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "moor-transfer-key-"));
});

async function moor(...words: readonly string[]) {
  const { io, printed } = openTerminal(cwd);
  return { code: await runMoor(["transfer-key", ...words, "--data", "data"], io), ...printed };
}

describe("moor transfer-key", () => {
  it.each([
    ["bind", /^key "ns2" \{\n {2}algorithm hmac-sha256;\n {2}secret "[A-Za-z0-9+/]{43}=";\n\};\n$/],
    ["knot", /^key:\n {2}- id: ns2\n {4}algorithm: hmac-sha256\n {4}secret: [A-Za-z0-9+/]{43}=\n$/],
    ["nsd", /^key:\n {2}name: "ns2"\n {2}algorithm: hmac-sha256\n {2}secret: "[A-Za-z0-9+/]{43}="\n$/],
    ["powerdns", /^pdnsutil import-tsig-key ns2 hmac-sha256 '[A-Za-z0-9+/]{43}='\n$/],
  ])("shows a key once, in the format of %s", async (format, pattern) => {
    const made = await moor("add", "--new", "ns2", "--format", format);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining("Key ns2: may transfer every zone.") });
    expect(made.out).toMatch(pattern);
    expect((await moor("list")).out).not.toMatch(/[A-Za-z0-9+/]{43}=/);
  });

  it("writes it to a file that only its owner can read, and never overwrites one", async () => {
    expect(await moor("add", "--new", "ns2", "--to", "k")).toMatchObject({ code: 0, out: "" });
    expect(statSync(join(cwd, "k")).mode & 0o777).toBe(0o600);
    const before = readFileSync(join(cwd, "k"), "utf8");
    expect(await moor("add", "--new", "ns3", "--to", "k")).toMatchObject({ code: 2 });
    expect(readFileSync(join(cwd, "k"), "utf8")).toBe(before);
    expect((await moor("list", "--json")).out).not.toContain("ns3");
  });

  it("says what a key may do", async () => {
    await moor("add", "--new", "all");
    await moor("add", "--new", "dhcp", "--update", "--zone", "example.org", "--algorithm", "hmac-sha512");
    await moor("add", "--new", "mine", "--account", "me");
    const { out } = await moor("list");
    expect(out).toMatch(/all +hmac-sha256 +all +transfer every zone/);
    expect(out).toMatch(/dhcp +hmac-sha512 +all +transfer and update example\.org/);
    expect(out).toMatch(/mine +hmac-sha256 +me +transfer every zone of me/);
  });

  it("can be limited to updates of some names and types, to a network and in time", async () => {
    const limits = ["--type", "TXT", "--set", "home A", "--from", "192.0.2.0/24", "--expires", "2099-01-01"];
    const made = await moor("add", "--new", "acme", "--update", "--zone", "bücher.example", ...limits);
    const words = "update home A, any name TXT in bücher.example from 192.0.2.0/24 until 2099-01-02 00:00";
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining(`Key acme: may ${words}.`) });
    const [key] = JSON.parse((await moor("list", "--json")).out);
    expect(key.scope).toMatchObject({
      access: "write",
      zones: ["xn--bcher-kva.example"],
      networks: ["192.0.2.0/24"],
      sets: [{ owner: "home", types: ["A"] }, { types: ["TXT"] }],
    });
    const useless = await moor("add", "--new", "nothing", "--type", "TXT");
    expect(useless).toMatchObject({ code: 2, err: expect.stringContaining("add --update") });
  });

  it("refuses a second key of the same name until the first is revoked", async () => {
    await moor("add", "--new", "ns2");
    expect(await moor("add", "--new", "NS2.")).toMatchObject({
      code: 1,
      err: expect.stringContaining("revoke it first"),
    });
    expect(await moor("revoke", "ns2")).toMatchObject({ code: 0, out: "Revoked key ns2.\n" });
    expect(await moor("revoke", "ns2")).toMatchObject({ code: 1, err: expect.stringContaining("no key ns2") });
    expect(await moor("add", "--new", "ns2")).toMatchObject({ code: 0 });
  });

  it("uses a given secret", async () => {
    writeFileSync(join(cwd, "secret"), `${Buffer.alloc(20, 7).toString("base64")}\n`);
    expect((await moor("add", "--new", "theirs", "--secret-file", "secret")).out).toContain(
      Buffer.alloc(20, 7).toString("base64"),
    );
    writeFileSync(join(cwd, "secret"), "not base64!");
    expect(await moor("add", "--new", "other", "--secret-file", "secret")).toMatchObject({ code: 2 });
    expect(await moor("add", "--new", "other", "--secret-file", "none")).toMatchObject({
      code: 2,
      err: "there is no file none; correct the path in --secret-file\n",
    });
  });

  it("says that a folder is not a file", async () => {
    const err = `moor: ${cwd} cannot be read (EISDIR)\n`;
    expect(await moor("add", "--new", "other", "--secret-file", ".")).toMatchObject({ code: 1, err });
    const refusal = ". is a folder; give a new file in it.\n";
    expect(await moor("add", "--new", "other", "--to", ".")).toMatchObject({ code: 2, err: refusal });
    const stream = "- is not a file; omit --to to show the secret.\n";
    expect(await moor("add", "--new", "other", "--to", "-")).toMatchObject({ code: 2, err: stream });
  });

  it.each([
    ["add", "..", "--to", "k"],
    ["add", "ns2", "--algorithm", "hmac-md5"],
  ])("refuses %s %s %s %s", async (...words) => {
    expect(await moor(...words)).toMatchObject({ code: 2, err: expect.stringMatching(/\w/) });
  });

  it("says for a wrong zone what to write instead", async () => {
    const err = "--zone org: a zone's name must have at least two labels; enter a name such as example.org\n";
    expect(await moor("add", "--new", "ns2", "--zone", "org")).toMatchObject({ code: 2, err });
  });
});

describe("the options about other nameservers", () => {
  it("reads networks, targets and the catalog", () => {
    const flags = {
      transferTo: ["192.0.2.0/24", "2001:db8::1"],
      notify: ["192.0.2.2:53,KEY.example", "[2001:db8::2]:5353"],
      allowPrimary: [],
    };
    const read = readTransferFlags({ ...flags, catalog: true });
    expect(read).toMatchObject({
      ok: true,
      value: {
        networks: [{ length: 24 }, { length: 128 }],
        notify: [
          { host: "192.0.2.2", port: 53, keyName: "key.example" },
          { host: "2001:db8::2", port: 5353, keyName: undefined },
        ],
        catalog: "catalog.moor.invalid",
      },
    });
  });

  it("reports all faults together", () => {
    const flags = { transferTo: ["192.0.2.0/33"], notify: ["192.0.2.2"], allowPrimary: [] };
    const read = readTransferFlags({ ...flags, catalog: "a..b" });
    expect(read.ok ? [] : read.faults.map((fault) => fault.where)).toEqual(["--transfer-to", "--notify", "--catalog"]);
  });
});
