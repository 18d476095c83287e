import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { readConfig } from "../read-config.ts";
import type { FirewallSource } from "../sources/firewall.ts";
import type { TokenTarget } from "../targets/token-target.ts";
import type { SourceConfig } from "./kinds.ts";

let folder: string;
let socket: Server;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-config-"));
  mkdirSync(join(folder, "secrets"));
  const secret = (name: string, text: string, mode = 0o600) =>
    writeFileSync(join(folder, "secrets", name), text, { mode });
  secret("key", "thekey\n");
  secret("secret", "thesecret\n");
  secret("token", "thetoken");
  secret("download", "key=thekey\nsecret=thesecret\n");
  secret("half", "key=thekey\n");
  secret("empty", "\n");
  secret("many", "two words\n");
  secret("it's", "thetoken", 0o644);
  const [whole = "", other = ""] = rootCertificates;
  writeFileSync(join(folder, "ca.pem"), `${whole}\n${other}\n`);
  writeFileSync(join(folder, "with-key.pem"), `${whole.replaceAll("CERTIFICATE", "PRIVATE KEY")}\n${whole}\n`);
  writeFileSync(join(folder, "cut.pem"), `${whole}\n${other.slice(0, 300)}`);
  writeFileSync(join(folder, "torn.pem"), whole.replace(/\n.{30}/, "\n"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  symlinkSync("pipe", join(folder, "to-pipe"));
  symlinkSync("moor.yaml", join(folder, "to-config"));
  symlinkSync("nothing", join(folder, "to-nothing"));
  socket = createServer().listen(join(folder, "socket"));
});
afterAll(() => {
  socket.close();
  rmSync(folder, { recursive: true });
});

const env = { TOKEN: "thetoken", EMPTY: "" };

function read(text: string) {
  writeFileSync(join(folder, "moor.yaml"), text);
  return readConfig("moor.yaml", env, folder);
}

const source =
  "sources: { fw: { url: 'https://192.0.2.1', key: { file: secrets/key }, secret: { file: secrets/secret } } }";
const target = "targets: { dns: { url: 'https://dns.test', token: { file: secrets/token } } }";
const names = "names: [{ name: home, zone: example.org, ipv4: wan0 }]";
const good = `${source}\n${target}\n${names}\n`;

describe("a good config", () => {
  it("is completed with the defaults", () => {
    const config = read(good);
    expect(config).toMatchObject({
      ok: true,
      value: {
        stateFile: join(folder, "moor-state.json"),
        interval: 30_000,
        names: [{ name: "home", zone: "example.org", target: "dns", create: false, rules: {} }],
        warnings: [],
      },
    });
    if (!config.ok) throw new Error();
    expect(config.value.sources.get("fw")).toMatchObject({ kind: "firewall", trust: { kind: "system" } });
    expect((config.value.targets.get("dns") as TokenTarget).token()).toBe("thetoken");
    expect(JSON.stringify([...config.value.sources, ...config.value.targets])).not.toMatch(/thekey|thesecret|thetoken/);
  });

  it.each([
    ["one file", "keyFile: secrets/download"],
    ["the same file twice", "key: { file: secrets/download }, secret: { file: secrets/download }"],
    ["one file, with another key beside it", "keyFile: secrets/download, key: { file: secrets/token }"],
  ])("reads the file downloaded from OPNsense: %s", (_, keys) => {
    const config = read(`sources: { fw: { url: 'https://192.0.2.1/api', ${keys} } }`);
    const fw = config.ok ? (config.value.sources.get("fw") as SourceConfig & FirewallSource) : undefined;
    expect([fw?.key(), fw?.secret()]).toEqual(["thekey", "thesecret"]);
  });

  it.each([
    ["ca: ca.pem", { kind: "ca" }],
    ["ca: with-key.pem", { kind: "ca" }],
    [`fingerprint: '${"ab:".repeat(31)}ab'`, { kind: "fingerprint", sha256: `${"AB:".repeat(31)}AB` }],
    [`fingerprint: ${"ab".repeat(32)}`, { kind: "fingerprint" }],
    ["insecure: false", { kind: "system" }],
  ])("trusts by %s", (line, trust) => {
    const config = read(good.replace("token:", `${line}, token:`));
    expect(config.ok && config.value.targets.get("dns")?.trust).toMatchObject(trust);
  });

  it.each([
    ["insecure", "insecure: true, token:", /insecure: true/],
    ["a secret that others can read", `token: { file: "secrets/it's" }, serverName: x, api:`, /chmod 600 '\S+it'\\''/],
  ])("warns of %s", (_, line, warning) => {
    const text = line.endsWith("api:")
      ? good.replace("token: { file: secrets/token }", `${line} v1`)
      : good.replace("token:", line);
    const config = read(text);
    expect(config.ok && config.value.warnings).toEqual([expect.stringMatching(warning)]);
  });

  it("may use plain http for this machine only", () => {
    for (const host of ["127.0.0.1:8080", "localhost", "[::1]:80"]) {
      expect(read(good.replace("https://dns.test", `http://${host}`)).ok).toBe(true);
    }
  });

  it("may contain names as people write them", () => {
    const config = read(`${source}\n${target}\nnames: [{ name: Zürich, zone: Bücher.example, ipv4: wan0 }]\n`);
    expect(config.ok && config.value.names).toMatchObject([{ name: "xn--zrich-kva", zone: "xn--bcher-kva.example" }]);
  });

  it("may have a name in two services, and families from two devices", () => {
    const text = `${source}
targets: { a: { url: 'https://a.test', token: { env: TOKEN } }, b: { url: 'https://b.test', token: { env: TOKEN } } }
names:
  - { name: home, zone: example.org, target: a, ipv4: wan0, ipv6: { interface: lan0, record: r6 } }
  - { name: home, zone: example.org, target: b, ipv4: wan0 }
`;
    const config = read(text);
    expect(config.ok && config.value.names.map(({ families }) => [...families])).toEqual([
      [
        ["ipv4", { source: "fw", devices: ["wan0"] }],
        ["ipv6", { source: "fw", devices: ["lan0"], recordId: "r6" }],
      ],
      [["ipv4", { source: "fw", devices: ["wan0"] }]],
    ]);
  });
});

describe("a name", () => {
  const nameWith = (text: string) =>
    read(`${source}\n${target}\nnames: [{ name: home, zone: example.org, ${text} }]\n`);
  const families = (text: string) => {
    const config = nameWith(text);
    return config.ok ? [...(config.value.names[0]?.families ?? [])] : config.faults;
  };

  it.each([
    ["may list several devices in order", "ipv4: [wan0, wan1]", { devices: ["wan0", "wan1"] }],
    ["may list several devices as `interface`", "ipv4: { interface: [wan0, wan1] }", { devices: ["wan0", "wan1"] }],
    ["may use a virtual address", "ipv4: { interface: wan0, vhid: 3 }", { devices: ["wan0"], vhid: "3" }],
  ])("%s", (_, text, expected) => expect(families(text)).toEqual([["ipv4", { source: "fw", ...expected }]]));

  it.each([
    ["host: '::1:2'", { prefixLength: 64 }],
    ["host: ::1:2", { prefixLength: 64 }],
    ["mac: 02:00:5e:10:00:01", { prefixLength: 64 }],
    ["host: '::1:0:0:0:2', prefix: 56", { prefixLength: 56, lengthIsGiven: true }],
  ])("may have a host part: %s", (text, host) => {
    expect(families(`ipv6: { interface: lan0, ${text} }`)).toMatchObject([["ipv6", { host }]]);
  });

  it("has the rules of the config, overridden by its own", () => {
    const rules = "public: require\nverify: 1h\nwhen: carp-master\nvhid: 1\nconfirm: dns\n";
    const config = read(
      `${rules}${source}\n${target}\nnames:\n  - { name: a, zone: example.org, ipv4: wan0 }\n  - { name: b, zone: example.org, ipv4: wan0, public: warn, when: always, holdDown: 5s }\n`,
    );
    expect(config.ok && config.value.names.map((name) => name.rules)).toEqual([
      { public: "require", verify: 3_600_000, carpMaster: "1", confirm: { servers: [] } },
      { public: "warn", verify: 3_600_000, confirm: { servers: [] }, holdDown: 5_000 },
    ]);
  });

  it("may read its families from two firewalls, and then needs no source", () => {
    const two = `${source.slice(0, -1)}, other: { url: 'https://192.0.2.2', keyFile: secrets/download } }`;
    const text = `${two}\n${target}\nnames: [{ name: home, zone: example.org, ipv4: { interface: a, source: fw }, ipv6: { interface: b, source: other } }]\n`;
    const config = read(text);
    expect(config.ok && [...(config.value.names[0]?.families.values() ?? [])].map((family) => family.source)).toEqual([
      "fw",
      "other",
    ]);
  });

  it("has a config that knows every file it was read from", () => {
    const config = read(good);
    expect(config.ok && [...config.value.files.keys()].map((file) => file.slice(folder.length + 1)).toSorted()).toEqual(
      ["moor.yaml", "secrets/key", "secrets/secret", "secrets/token"],
    );
  });
});

const faults: [string, string, RegExp][] = [
  ["an unknown rule", "public: always", /public cannot be "always"; write warn or require/],
  ["carp-master without a VHID", "when: carp-master", /needs a VHID.*vhid: 1/],
  ["a VHID without carp-master", "vhid: 1", /vhid is set without when/],
  ["a limit of no changes", "changesPerHour: 0", /changesPerHour is not a whole number from 1/],
  ["a DNS server given by name", "confirm: { dns: [ns1.example.org] }", /ns1\.example\.org is not an IP address/],
  ["a server's bad port", "confirm: { dns: ['192.0.2.53:99999'] }", /192\.0\.2\.53:99999 is not an IP address/],
  ["an IPv6 server's bad port", "confirm: { dns: ['[2001:db8::53]:0'] }", /\[2001:db8::53\]:0 is not an IP address/],
  ["a host part for IPv4", good.replace("ipv4: wan0", "ipv4: { interface: wan0, host: '::1' }"), /only for IPv6/],
  [
    "a host part that is too long",
    good.replace("ipv4: wan0", "ipv6: { interface: wan0, host: '1::1' }"),
    /not a host part for a prefix of 64 bits/,
  ],
  ["a bad MAC", good.replace("ipv4: wan0", "ipv6: { interface: wan0, mac: nope }"), /"nope" is not a MAC address/],
  [
    "host and mac",
    good.replace("ipv4: wan0", "ipv6: { interface: wan0, host: '::1', mac: 02:00:5e:10:00:01 }"),
    /keep one of the two/,
  ],
  ["an empty list of devices", good.replace("ipv4: wan0", "ipv4: []"), /empty list/],
  [
    "an unknown source of a family",
    good.replace("ipv4: wan0", "ipv4: { interface: wan0, source: fv }"),
    /there is no source "fv".*did you mean "fw"/,
  ],
  ["an alias without an anchor", good.replace("wan0", "*wan"), /^moor\.yaml:3:48: there is no anchor &wan before this/],
  ["text that is not YAML", "a: [", /^moor\.yaml:1:\d+: this is not valid YAML/],
  ["empty", "", /^moor\.yaml:1:1: the config is empty, not a mapping/],
  ["a list", "- 1", /^moor\.yaml:1:1: the config is a list/],
  ["a key twice", "interval: 30s\ninterval: 40s", /^moor\.yaml:2:1: this key is given twice/],
  ["a misspelt key", "soruces: {}", /^moor\.yaml:1:1: the config has no setting "soruces"; did you mean "sources"\?/],
  ["the config as the state", `${good}state: moor.yaml`, /^moor\.yaml:4:8: state is a file that this config reads/],
  ["a secret as the state", `${good}state: ./secrets/token`, /state is a file that this config reads.*another file/],
  ["the config as the history", `${good}history: moor.yaml`, /history is a file that this config reads/],
  ["one file for both", `${good}history: moor-state.json`, /^moor\.yaml:4:10: history and state name the same file/],
  ["a state that is a folder", `${good}state: secrets`, /^moor\.yaml:4:8: state is a folder: .*; choose another file/],
  ["a history that is a folder", `${good}history: .`, /^moor\.yaml:4:10: history is a folder/],
  ["a state that is a device", `${good}state: /dev/null`, /^moor\.yaml:4:8: state is a device: \/dev\/null/],
  ["a history that is a device", `${good}history: /dev/full`, /^moor\.yaml:4:10: history is a device/],
  ["a state that is a pipe", `${good}state: pipe`, /^moor\.yaml:4:8: state is a pipe/],
  ["a history that is a pipe", `${good}history: pipe`, /^moor\.yaml:4:10: history is a pipe/],
  ["a state that is a socket", `${good}state: socket`, /^moor\.yaml:4:8: state is a socket/],
  ["a history that is a link to a pipe", `${good}history: to-pipe`, /^moor\.yaml:4:10: history is a pipe/],
  ["a state that is a link to the config", `${good}state: to-config`, /state is a file that this config reads/],
  [
    "two links to one file that does not exist yet",
    `${good}state: to-nothing\nhistory: nothing`,
    /history and state name the same file/,
  ],
  [
    "the default history as the state",
    `${good}state: moor-history.jsonl`,
    /^moor\.yaml:4:8: state and history name the same file/,
  ],
  ["an unknown key", "colour: red", /the settings are state, history, interval/],
  ["a bad interval", "interval: 30", /^moor\.yaml:1:11: interval is not a duration.*like 30s/],
  ["an interval of 0", "interval: 0s", /interval is not a duration/],
  ["no url", good.replace("url: 'https://dns.test', ", ""), /^moor\.yaml:2:17: target dns has no url/],
  ["a bad url", good.replace("https://dns.test", "dns.test"), /url of target dns is not an HTTP URL/],
  ["another scheme", good.replace("https://dns.test", "ftp://dns.test"), /is not an HTTP URL/],
  ["plain http", good.replace("https://dns.test", "http://dns.test"), /^moor\.yaml:2:24: .*unencrypted.*https/],
  [
    "plain http to a name that looks like this machine",
    good.replace("https://dns.test", "http://127.0.0.1.evil.test"),
    /unencrypted/,
  ],
  ["a password in the url", good.replace("https://", "https://me:thetoken@"), /contains a user name/],
  ["a query in the url", good.replace("dns.test", "dns.test/?x"), /a query or a fragment/],
  ["no token", good.replace("token: { file: secrets/token }", "api: v1"), /target dns has no token/],
  [
    "a token in the config",
    good.replace("{ file: secrets/token }", "thetoken"),
    /is in the config itself.*{ file: path }/,
  ],
  [
    "a token from two places",
    good.replace("{ file: secrets/token }", "{ file: a, env: B }"),
    /exactly one of file and env/,
  ],
  ["a missing secret file", good.replace("secrets/token", "secrets/nope"), /there is no file secrets\/nope/],
  [
    "a secret that is a folder",
    good.replace("secrets/token", "secrets"),
    /cannot be read \(EISDIR\); it is a folder: give a file/,
  ],
  ["an empty secret", good.replace("secrets/token", "secrets/empty"), /token of target dns is empty/],
  ["a secret of two words", good.replace("secrets/token", "secrets/many"), /contains a space, a line break/],
  ["a variable that is not set", good.replace("{ file: secrets/token }", "{ env: NOPE }"), /variable NOPE is not set/],
  [
    "a variable that is empty",
    good.replace("{ file: secrets/token }", "{ env: EMPTY }"),
    /token of target dns is empty/,
  ],
  [
    "half a key file",
    "sources: { fw: { url: 'https://192.0.2.1', keyFile: secrets/half } }",
    /secret in keyFile of source fw/,
  ],
  [
    "a key file in another format",
    "sources: { fw: { url: 'https://192.0.2.1', keyFile: secrets/key } }",
    /^moor\.yaml:1:53: keyFile of source fw has no lines key=… and secret=…; .*`key:` and `secret:`/,
  ],
  [
    "an unknown api",
    good.replace("token:", "api: v7, token:"),
    /api of target dns cannot be "v7"; write rrsets or hetzner/,
  ],
  ["a missing ca", good.replace("token:", "ca: nope.pem, token:"), /ca of target dns: there is no file nope\.pem/],
  ["a CA file without a certificate", good.replace("token:", "ca: secrets/key, token:"), /contains no certificate/],
  ["a CA file that was cut off", good.replace("token:", "ca: cut.pem, token:"), /certificate 2 in cut\.pem is damaged/],
  [
    "a damaged CA file",
    good.replace("token:", "ca: torn.pem, token:"),
    /^moor\.yaml:2:48: .* damaged; copy the whole file again/,
  ],
  ["a bad fingerprint", good.replace("token:", "fingerprint: 'AB:CD', token:"), /32 pairs/],
  [
    "ca and fingerprint",
    good.replace("token:", "ca: ca.pem, fingerprint: 'AB', token:"),
    /target dns has ca and fingerprint; keep one/,
  ],
  [
    "insecure: yes",
    good.replace("token:", "insecure: yes, token:"),
    /insecure of target dns is neither true nor false; write true or false, without quotes/,
  ],
  [
    "a name that YAML reads as true",
    good.replace("name: home", "name: true"),
    /name must be text, and true is not text without quotes; put it in quotes/,
  ],
  [
    "an unknown source",
    good.replace("ipv4:", "source: wf, ipv4:"),
    /^moor\.yaml:3:50: there is no source "wf"; the sources are fw; did you mean "fw"\?/,
  ],
  ["an unknown target", good.replace("ipv4:", "target: x, ipv4:"), /there is no target "x"; the targets are dns/],
  ["no target at all", `${source}\n${names}`, /this name has no target; add `target: …`; there are no targets yet/],
  ["no family", good.replace(", ipv4: wan0", ""), /neither ipv4 nor ipv6/],
  ["no interface", good.replace("wan0", "{ record: r4 }"), /ipv4 has no interface/],
  ["a misspelt key of a name", good.replace("ipv4:", "ip4: x, ipv4:"), /no setting "ip4"; did you mean "ipv4"/],
  ["no zone", good.replace("zone: example.org, ", ""), /this name has no zone/],
  ["a bad zone", good.replace("zone: example.org", "zone: org"), /at least two labels/],
  ["the zone repeated in the name", good.replace("name: home", "name: home.example.org"), /write home/],
  ["a name outside the zone", good.replace("name: home", "name: home.example.net."), /^moor\.yaml:3:17: /],
  ["a bad ttl", good.replace("ipv4:", "ttl: -1, ipv4:"), /ttl is not a whole number from 0/],
  ["a ttl with a unit", good.replace("ipv4:", "ttl: 60s, ipv4:"), /without a unit/],
  ["names as a mapping", `${source}\n${target}\nnames: { a: b }`, /names is a mapping, not a list/],
  [
    "the same name twice",
    good.replace("[{", "[{ name: HOME, zone: Example.org, ipv4: wan1 }, {"),
    /home\.example\.org A is already in another entry/,
  ],
];

describe("faults", () => {
  test.each(faults)("%s", (_, text, expected) => {
    const config = read(text);
    if (config.ok) throw new Error("accepted");
    const printed = config.faults.map(({ where, message, todo }) => `${where}: ${message}; ${todo}`);
    expect(printed.join("\n")).toMatch(expected);
    expect(printed.length).toBe(1);
    expect(printed.join()).not.toMatch(/thekey|thesecret|thetoken/);
  });

  it("are listed together, in the order of the file", () => {
    const config = read(`interval: x
sources: { fw: { url: nowhere, keyFile: nope } }
targets: { dns: { token: { file: nope } } }
names:
  - { name: home, zone: example.org, source: other, ipv4: wan0 }
  - { zone: org, colour: red }
`);
    if (config.ok) throw new Error("accepted");
    expect(config.faults.map(({ where, code }) => `${where.split(":")[1]} ${code}`)).toEqual([
      "1 bad-duration",
      "2 bad-url",
      "2 missing-file",
      "3 missing",
      "3 missing-file",
      "5 unknown-source",
      "6 missing",
      "6 missing",
      "6 single-label",
      "6 unknown-key",
    ]);
  });

  it("in a text that is not a config are few, and quote little of it", () => {
    const config = read(`# moor\n\n${`\`${"word ".repeat(500)}: |\n| x: y\n`.repeat(20)}`);
    if (config.ok) throw new Error("accepted");
    expect(config.faults.length).toBe(4);
    expect(config.faults.at(-1)?.message).toMatch(/^\d+ more errors like this$/);
    expect(config.faults.at(-1)?.todo).toMatch(/check that this is the right file/);
    for (const { message } of config.faults) expect(message.length).toBeLessThan(200);
  });

  it("in a long key quote only its beginning", () => {
    const config = read(`${"k".repeat(900)}: 1\n`);
    expect(config).toMatchObject({ ok: false, faults: [{ message: expect.stringMatching(/setting "k{60,100}…"$/) }] });
  });

  it("about a missing file say how to create one", () => {
    const config = readConfig("none.yaml", {}, folder);
    expect(config).toMatchObject({ ok: false, faults: [{ where: "none.yaml", code: "missing-file" }] });
  });
});

it("the sample has no faults except for missing files", () => {
  const config = read(readFileSync(new URL("../../../moor.sample.yaml", import.meta.url), "utf8"));
  if (config.ok) throw new Error("accepted without its secrets");
  expect(config.faults.map(({ code }) => code)).toEqual(["missing-file", "missing-file", "missing-file"]);
});
