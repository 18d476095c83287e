import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../../test/rig/cli/terminal.ts";
import { update } from "../../update/update.ts";
import { init } from "../init.ts";
import type { InitOptions } from "../options.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-from-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const good = "use=if, if=eth0\nprotocol=cloudflare, zone=example.org, password=t0ken home.example.org\n";

async function from(text: string, more: InitOptions = { yes: true }) {
  writeFileSync(join(folder, "old.conf"), text);
  const { io, printed } = openTerminal(folder);
  return { code: await init({ from: "old.conf", ...more }, io), ...printed };
}

describe("moor init --from", () => {
  it("writes a config and secrets that only the owner can read, and says what to do next", async () => {
    const { code, out, err } = await from(good);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(
      /^old\.conf is a config of ddclient\.\n\nCarried over: home\.example\.org\n\nThe new config:\nok: /,
    );
    expect(out).toContain("home.example.org A: from eth0 of interface");
    expect(out).toContain("moor update --dry-run --config moor.yaml\n");
    for (const file of ["moor.yaml", "secrets/cloudflare-token", "secrets/control-token"])
      expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
    expect(readFileSync(join(folder, "moor.yaml"), "utf8")).not.toContain("t0ken");
    expect(await update({ check: true }, openTerminal(folder).io)).toBe(0);
  });

  it("only shows the new config if nobody can confirm it", async () => {
    const { code, out, err } = await from(good, {});
    expect([code, err]).toEqual([2, "Write this config? Confirm with --yes.\n"]);
    expect(out).toContain("home.example.org A: from eth0");
    expect(existsSync(join(folder, "moor.yaml"))).toBe(false);
  });

  it("overwrites nothing unless forced", async () => {
    await from(good);
    const { code, err } = await from(good);
    expect([code, err]).toEqual([2, expect.stringContaining("moor.yaml would be overwritten; to do so, add --force.")]);
    expect((await from(good, { yes: true, force: true })).code).toBe(0);
  });

  it("writes a config with mistakes only if forced", async () => {
    const wrong = good.replace("zone=", "ttl=3000000000, zone=");
    const { code, err } = await from(wrong);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(
        /moor\.yaml:\d+:\d+: ttl is not .*\nThe new config has mistakes, so nothing was written; correct them in the old config .* --force\n$/,
      ),
    ]);
    expect(existsSync(join(folder, "moor.yaml"))).toBe(false);
    expect((await from(wrong, { force: true })).code).toBe(0);
    expect(readFileSync(join(folder, "moor.yaml"), "utf8")).toContain("ttl: 3000000000");
  });

  it("writes nothing if no name can be carried over, and lists why", async () => {
    const { code, out, err } = await from("protocol=nfsn, login=a, password=b c.test\n");
    expect([code, err]).toEqual([2, "There is no name that moor can update, so nothing was written.\n"]);
    expect(out).toContain("old.conf:1: c.test: moor has no target for protocol=nfsn");
    expect(existsSync(join(folder, "moor.yaml"))).toBe(false);
  });

  it("does not take answers from other options", async () => {
    const { code, err } = await from(good, { kind: "web", firewallKeyFile: "k", sourceSet: [] });
    expect([code, err]).toEqual([
      2,
      "With --from, everything comes from that file. Leave out --kind, --firewall-key-file.\n",
    ]);
  });

  it.for<[string, string, string]>([
    ["nothing", "\n", "it is empty"],
    ["other JSON", '{"a": 1}', "it is JSON, but has no list `settings`"],
    ["a web page", "<!doctype html>", "it looks like XML or a web page"],
    ["a config of moor", "sources:\n  web: { kind: web }\n", "it looks like a config of moor itself"],
    ["inadyn 1", "dyndns_system default@dyndns.org\nusername a\n", "it looks like a config of inadyn 1"],
    ["another text", "hello\n", "it looks like none of these"],
  ])("says what else it saw: %s", async ([, text, seems]) => {
    const { code, err } = await from(text);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(
        `old.conf is not a config of ddclient, inadyn, ddns-updater, ddns-go, cloudflare-ddns, ddns-scripts: ${seems}`,
      ),
    ]);
  });

  it("says which file cannot be read", async () => {
    const { io, printed } = openTerminal(folder);
    expect(await init({ from: "nowhere" }, io)).toBe(2);
    expect(printed.err).toBe("--from nowhere does not exist.\n");
  });

  it.for([
    [
      "ddclient",
      `use=if, login=a, password=correct horse battery\nuse=if, password=correct horse=battery c.test\n${good}`,
    ],
    ["inadyn", "provider dyndns.org {\n password = correct horse battery\n}\n"],
    ["inadyn, as a setting", "provider dyndns.org {\n password = correct horse = battery\n hostname = c.test }\n"],
  ] as const)("shows no part of a password that should have been quoted: %s", async ([, text]) => {
    const { out, err } = await from(text);
    expect(out + err).toMatch(/old\.conf:[12]: /);
    expect(out + err).not.toMatch(/correct|horse|battery/);
  });

  it("shows no control characters of the file", async () => {
    const { code, out } = await from(`use=if, if=eth0\nprotocol=x\u001b[31m, login=a, password=b c.test\n${good}`);
    expect(code).toBe(0);
    expect(out).toContain(String.raw`protocol=x\u{1b}[31m`);
  });
});
