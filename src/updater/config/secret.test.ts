import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../read-config.ts";
import type { FirewallSource } from "../sources/firewall.ts";
import type { TokenTarget } from "../targets/token-target.ts";
import type { SourceConfig } from "./kinds.ts";

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

describe("a secret", () => {
  const withTarget = (target: string) => config.replace(/targets: .*/, `targets: { dns: { ${target} } }`);
  const inBody = withTarget("api: inwx, user: me, password: { file: token }");
  const inBasic = withTarget("api: dyndns2, service: noip, user: me, password: { file: token }");
  const inHeader = withTarget("api: cloudflare, token: { file: token }");
  const passwordIn = (outcome: ReturnType<typeof read>) =>
    outcome.ok
      ? (outcome.value.targets.get("dns") as unknown as { password: () => string }).password()
      : outcome.faults.map(({ message }) => message).join();

  it.each(["two words", "pässwörd", "密码 🔑", '"quoted", with: every $ign\\', " at the ends "])(
    "may be %j where the protocol encodes it",
    (token) => {
      for (const text of [inBody, inBasic])
        expect(passwordIn(read({ "moor.yaml": text, token: `${token}\r\n` }))).toBe(token);
    },
  );

  it("may come from an OPNsense with spaces in it", () => {
    const outcome = read({ key: "key=the key\r\nsecret=dä secret\r\n" });
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
    const fw = outcome.value.sources.get("fw") as SourceConfig & FirewallSource;
    expect([fw.key(), fw.secret()]).toEqual(["the key", "dä secret"]);
  });

  it.each<[string, string, RegExp]>([
    [inBody, "two\nlines", /contains a line break or a control character/],
    [inBody, "a\u0007bell", /contains a line break or a control character/],
    [inBody, " \n", /is empty/],
    [inHeader, "two words", /contains a space, a line break or another character that is not visible ASCII/],
    [inHeader, "pässwörd", /not visible ASCII/],
  ])("is refused otherwise: %#", (text, token, message) => {
    const outcome = read({ "moor.yaml": text, token });
    expect(outcome.ok || outcome.faults.map((fault) => fault.message).join()).toMatch(message);
  });

  it("with a space at its end is used as it is, with a warning", () => {
    const outcome = read({ "moor.yaml": inBody, token: "word \n" });
    expect(outcome.ok && outcome.value.warnings).toEqual([
      "password of target dns begins or ends with a space, which moor sends too",
    ]);
  });
});
