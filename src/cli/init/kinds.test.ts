import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { fakeCloudflare } from "../../../test/rig/updater/fakes/cloudflare.ts";
import { startServer, type TestServer } from "../../../test/rig/updater/services.ts";
import type { Mapping } from "../../lib/settings/mapping.ts";
import type { Setting } from "../../lib/settings/setting.ts";
import { sourceKinds, sourceSettings } from "../../updater/sources/sources.ts";
import { targetKinds, targetSettings } from "../../updater/targets/targets.ts";
import { type KindSetting, settingsToAsk } from "../io/kind-settings.ts";
import { update } from "../update/update.ts";
import { askEntry } from "./ask-entry.ts";
import { createFlagAsker } from "./asker.ts";
import { init } from "./init.ts";
import type { InitOptions } from "./options.ts";
import { readEntry } from "./read-entry.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-kinds-"));
  writeFileSync(join(folder, "token"), "t0ken\n");
  const keys = 'key=k\nsecret=s\nkey "home" { algorithm hmac-sha256; secret "c2VjcmV0"; };\n';
  writeFileSync(join(folder, "keys"), keys);
  writeFileSync(join(folder, "my-address"), "#!/bin/sh\necho 9.9.9.9\n", { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const answerTo = ({ type, example, choices }: KindSetting): string =>
  type === "secret" ? "token" : type === "path" ? "keys" : type === "choice" ? (choices[0] ?? "") : example;

describe("the questions for every kind come from the descriptions of its settings", () => {
  type Row = [string, Setting<unknown>, Mapping<unknown>, string];
  const rows: Row[] = [
    ...Object.entries(sourceKinds).map(([name, kind]): Row => ["kind", sourceSettings, kind, name]),
    ...Object.entries(targetKinds).map(([name, kind]): Row => ["api", targetSettings, kind, name]),
  ];
  it.for(rows)("%s: %o", async ([tag, settings, kind, name]) => {
    const { io } = openTerminal(folder);
    const asked = settingsToAsk(kind);
    const cliValues = new Map(asked.map((setting) => [setting.key, answerTo(setting)]));
    const askTrust = async () => ({ kind: "system" }) as const;
    const asker = createFlagAsker(false);
    const flags = { flag: "--set", cliValues, askTrust, asker, io };
    const entry = await askEntry({ name, kind, tag: { [tag]: name }, ...flags });
    expect(await readEntry(settings as Setting<object>, entry, "the entry", {}, io)).toMatchObject({ [tag]: name });
    for (const { description, type } of asked) {
      expect(description).toMatch(/^[A-Z].*\.$/s);
      if (type === "secret") expect(JSON.stringify(entry.settings)).not.toContain("t0ken");
    }
  });
});

describe("by options", () => {
  let server: TestServer;
  const cloudflare = fakeCloudflare("t0ken");
  beforeEach(async () => {
    server = await startServer(cloudflare.reply);
    cloudflare.fill(["home 60 A 192.0.2.1"]);
  });
  afterEach(() => server.close());

  const options = (more: InitOptions = {}): InitOptions => ({
    config: "new/moor.yaml",
    kind: "command",
    sourceSet: [`command=${join(folder, "my-address")}`],
    api: "cloudflare",
    targetSet: [`url=${server.url}`],
    tokenFile: "token",
    zone: "example.org",
    name: "home",
    ipv4: "yes",
    ipv6: "none",
    yes: true,
    control: "none",
    ...more,
  });
  const at = (file: string) => join(folder, "new", file);

  it("a program and Cloudflare: tries a round, and writes a config that works", async () => {
    const { io, printed } = openTerminal(folder);
    expect([await init(options(), io), printed.err]).toEqual([0, ""]);
    expect(printed.out).toContain("would be replaced by 9.9.9.9");
    expect(readFileSync(at("moor.yaml"), "utf8")).toContain(`sources:
  command:
    kind: command
    command: ${JSON.stringify(join(folder, "my-address"))}
targets:
  cloudflare:
    api: cloudflare
    token: { file: secrets/cloudflare-token }
    url: ${JSON.stringify(`${server.url}/`)}
names:
  - name: "home"
    zone: "example.org"
    ipv4: true
`);
    expect(readFileSync(at("secrets/cloudflare-token"), "utf8")).toBe("t0ken\n");
    expect(statSync(at("secrets/cloudflare-token")).mode & 0o077).toBe(0);
    expect(await update({ config: "new/moor.yaml", once: true }, openTerminal(folder).io)).toBe(0);
    expect(cloudflare.held()).toEqual(["home 60 A 9.9.9.9"]);
  });

  it("a program, by a path relative to the current folder", async () => {
    const { io, printed } = openTerminal(folder);
    expect([await init(options({ sourceSet: ["command=[./my-address, -4]"] }), io), printed.err]).toEqual([0, ""]);
    expect(readFileSync(at("moor.yaml"), "utf8")).toContain(`command: ["${join(folder, "my-address")}", -4]`);
  });

  it("creates the record of a new name", async () => {
    const { io, printed } = openTerminal(folder);
    expect([await init(options({ name: "nas", create: true }), io), printed.err]).toEqual([0, ""]);
    expect(cloudflare.of("nas", "A")).toMatchObject([{ value: "9.9.9.9" }]);
  });

  it("a service that cannot list its zones: zone and name are taken as given", async () => {
    const target = ["service=noip", "user=me", "password=token", "dns=[127.0.0.1:9]"];
    const { io, printed } = openTerminal(folder);
    // Forced: nobody answers the round at that nameserver.
    const more = { api: "dyndns2", targetSet: target, tokenFile: undefined, force: true };
    expect([await init(options(more), io), printed.err]).toEqual([0, ""]);
    const written = readFileSync(at("moor.yaml"), "utf8");
    expect(written).toMatch(
      /api: dyndns2\n {4}service: "noip"\n {4}user: "me"\n {4}password: \{ file: secrets\/dyndns2-password \}/,
    );
  });

  it("--create at such a service: says that it has no effect", async () => {
    const { io, printed } = openTerminal(folder);
    const more = { api: "duckdns", targetSet: ["dns=[127.0.0.1:9]"], force: true, create: true };
    await init(options(more), io);
    expect(printed.err).toBe("--create has no effect here: moor cannot see which records exist at DuckDNS.\n");
  });

  it.for<[string, InitOptions, string]>([
    [
      "a kind that does not exist",
      { kind: "fritz" },
      "--kind fritz is not one of the choices. Choose from: web, firewall, ",
    ],
    ["an API that does not exist", { api: "cf" }, "--api cf is not one of the choices. Choose from: rrsets, hetzner, "],
    [
      "missing settings, all of them",
      { sourceSet: [], tokenFile: undefined, zone: undefined },
      "Add the missing options: --source-set command=…, --target-set token=…, --zone\n",
    ],
    ["one missing setting", { sourceSet: [] }, "Answer with --source-set command=/usr/local/bin/my-address.\n"],
    [
      "a setting that the kind does not have",
      { sourceSet: ["command=/bin/true", "timout=5s"] },
      'did you mean "timeout"?',
    ],
    [
      "no value",
      { sourceSet: ["command"] },
      "--source-set needs a setting and its value, as in --source-set user=moor\n",
    ],
    [
      "a value that is wrong",
      { sourceSet: ["command=/bin/true", "timeout=5"] },
      "timeout of source command is not a duration",
    ],
    [
      "a source that cannot be read",
      { sourceSet: ["command=/nowhere"] },
      "the program /nowhere cannot be started (ENOENT); ",
    ],
    ["the secret instead of its file", { tokenFile: "S".repeat(40) }, "--token-file must be the path of a file"],
    ["a secret in a file that is not there", { targetSet: ["token=nowhere"] }, "--token-file nowhere does not exist"],
    ["a token that the service refuses", { tokenFile: "keys" }, "A secret has no spaces."],
  ])("reports %s, and writes nothing", async ([, more, said]) => {
    const { io, printed } = openTerminal(folder);
    expect(await init(options(more), io)).toBe(2);
    expect(printed.err).toContain(said);
    expect(() => statSync(at("moor.yaml"))).toThrow("ENOENT");
  });
});
