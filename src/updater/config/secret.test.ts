import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FirewallSource } from "../sources/firewall.ts";
import type { SourceConfig } from "../sources/source.ts";
import type { TokenTarget } from "../targets/token-target.ts";
import { readConfig } from "./read.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-windows-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const config = `sources: { fw: { url: 'https://192.0.2.1', keyFile: key } }
targets: { dns: { url: 'https://dns.test', token: { file: token } } }
names: [{ name: home, zone: example.org, ipv4: wan0 }]
`;
const files = { "moor.yaml": config, key: "key=thekey\r\nsecret=thesecret\r\n", token: "thetoken\r\n" };

function read(change: Partial<Record<keyof typeof files, string | Buffer>>) {
  for (const [name, content] of Object.entries({ ...files, ...change }))
    writeFileSync(join(folder, name), content, { mode: 0o600 });
  return readConfig("moor.yaml", {}, folder);
}

describe("files that were saved on Windows", () => {
  it("may begin with a byte order mark", () => {
    const outcome = read({ "moor.yaml": `\uFEFF${config}`, key: `\uFEFF${files.key}`, token: `\uFEFF${files.token}` });
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
    const fw = outcome.value.sources.get("fw") as SourceConfig & FirewallSource;
    const dns = outcome.value.targets.get("dns") as TokenTarget;
    expect([fw.key(), fw.secret(), dns.token()]).toEqual(["thekey", "thesecret", "thetoken"]);
  });

  it.each([
    ["moor.yaml", "moor.yaml", "it is not UTF-8"],
    ["key", "moor.yaml:1:53", "keyFile of source fw: key is not UTF-8"],
    ["token", "moor.yaml:2:59", "token of target dns: token is not UTF-8"],
  ] as const)("are reported when %s is in UTF-16", (name, where, message) => {
    const outcome = read({ [name]: Buffer.from(`\uFEFF${files[name]}`, "utf16le") });
    expect(outcome).toEqual({
      ok: false,
      faults: [{ code: "not-utf-8", where, message, todo: "save it as UTF-8" }],
    });
  });
});
