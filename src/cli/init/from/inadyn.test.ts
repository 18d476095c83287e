import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importConfig } from "../../../../test/rig/cli/import-config.ts";

const inadyn = "inadyn";

const twoAccounts = `# In-A-Dyn v2.0 configuration file format
period          = 300
user-agent      = "Mozilla/5.0"

provider no-ip.com:1 {
    username       = account21
    password       = secret21
    hostname       = example.ddns.net
}
provider default@no-ip.com:2 {
    checkip-server = "dynamic.zoneedit.com"
    checkip-path   = "/checkip.html"
    checkip-ssl    = false
    username       = account22
    password       = "se\\"cret22"   // an escaped quote
    hostname       = { "another.ddns.net", "third.ddns.net" }
}
`;
const cloudflare = `period = 7200
allow-ipv6 = true /* both */
verify-address = false
provider default@cloudflare.com:1 {
    username = example.org
    password = t0ken # Zone.DNS - Edit
    hostname = home.example.org
    ttl = 1
    proxied = false
}
provider default@cloudflare.com:2 {
    checkip-command = "/usr/local/bin/wan6"
    username = example.org
    password = t0ken
    hostname = home.example.org
    ttl = 1
}
`;
const custom = `iface = ppp0
provider dyndns@he.net {
    username = home.example.net
    password = key1
    hostname = home.example.net
}
custom own {
    username    = me
    password    = 'pa55word'
    ddns-server = dyn.example.org:8443
    ddns-path   = "/nic/update?hostname=%h&myip=%i"
    hostname    = a.example.org
}
`;
const noip = { api: "dyndns2", service: "noip" };

describe("a config of inadyn", () => {
  it.for<[string, string, Record<string, unknown>, Record<string, string>]>([
    [
      "two accounts at one service",
      twoAccounts,
      {
        interval: "5m",
        public: "require",
        sources: { web: { kind: "web", every: "5m" } },
        targets: {
          dyndns2: { ...noip, user: "account21", password: { file: "secrets/dyndns2-password" } },
          "dyndns2-2": { ...noip, user: "account22", password: { file: "secrets/dyndns2-2-password" } },
        },
        names: [
          { name: "example", zone: "ddns.net", target: "dyndns2", ipv4: true },
          { name: "another", zone: "ddns.net", target: "dyndns2-2", ipv4: true },
          { name: "third", zone: "ddns.net", target: "dyndns2-2", ipv4: true },
        ],
      },
      { "secrets/dyndns2-password": "secret21", "secrets/dyndns2-2-password": 'se"cret22' },
    ],
    [
      "one name with a section for each of its addresses",
      cloudflare,
      {
        interval: "2h",
        sources: {
          web: { kind: "web", every: "2h" },
          command: { kind: "command", command: ["/bin/sh", "-c", "/usr/local/bin/wan6"] },
        },
        targets: { cloudflare: { api: "cloudflare", token: { file: "secrets/cloudflare-token" } } },
        names: [
          { name: "home", zone: "example.org", create: true, ipv4: { source: "web" }, ipv6: { source: "command" } },
        ],
      },
      { "secrets/cloudflare-token": "t0ken" },
    ],
    [
      "an interface, a provider and a server of one's own",
      custom,
      {
        interval: "30s",
        public: "require",
        sources: { interface: { kind: "interface" } },
        targets: {
          dyndns2: {
            api: "dyndns2",
            service: "he",
            user: "home.example.net",
            password: { file: "secrets/dyndns2-password" },
          },
          "dyndns2-2": {
            api: "dyndns2",
            url: "https://dyn.example.org:8443/nic/update",
            user: "me",
            password: { file: "secrets/dyndns2-2-password" },
          },
        },
        names: [
          { name: "home", zone: "example.net", target: "dyndns2", ipv4: "ppp0" },
          { name: "a", zone: "example.org", target: "dyndns2-2", ipv4: "ppp0" },
        ],
      },
      { "secrets/dyndns2-password": "key1", "secrets/dyndns2-2-password": "pa55word" },
    ],
  ])("%s", async ([, text, expected, secrets]) => {
    const { code, config, secrets: kept, said } = await importConfig(text);
    expect([code, said]).toEqual([0, expect.any(String)]);
    expect(config).toEqual(expected);
    expect(kept).toEqual(secrets);
    for (const secret of Object.values(secrets)) expect(said).not.toContain(secret);
  });

  it("is one that inadyn itself accepts", () => {
    const folder = mkdtempSync(join(tmpdir(), "moor-inadyn-"));
    for (const [name, text] of Object.entries({ twoAccounts, cloudflare, custom })) {
      writeFileSync(join(folder, name), text);
      expect(() => execFileSync(inadyn, ["--check-config", "-f", join(folder, name)], { stdio: "pipe" })).not.toThrow();
    }
    rmSync(folder, { recursive: true });
  });

  it("lists what has no place in the new config, and what was assumed, with the line", async () => {
    const { lost, assumed } = await importConfig(twoAccounts);
    expect(lost).toEqual(["3: user-agent: not needed"]);
    expect(assumed.map((note) => note.slice(0, 30))).toEqual([
      "5: example.ddns.net: the file ",
      "10: another.ddns.net: the file",
      "10: third.ddns.net: the file d",
      "11: checkip-server: moor asks ",
    ]);
  });
});

it("a config of inadyn for Porkbun has its two keys as user name and password", async () => {
  const { config, secrets, lost } = await importConfig(
    "iface = eth0\nprovider porkbun.com {\n  username = k\n  password = s\n  hostname = a.d.test\n  ttl = 600\n}\n",
  );
  expect(lost).toEqual([]);
  expect(config?.targets).toEqual({
    porkbun: { api: "porkbun", key: { file: "secrets/porkbun-key" }, secret: { file: "secrets/porkbun-secret" } },
  });
  expect(config?.names).toEqual([{ name: "a", zone: "d.test", ttl: 600, create: true, ipv4: "eth0" }]);
  expect(Object.values(secrets)).toEqual(["k", "s"]);
});

describe("one part of a config of inadyn", () => {
  const good = "provider dyndns.org { username = a password = b hostname = good.test }";
  it.for<[string, "lost" | "assumed", string]>([
    [
      "provider dhis { username = a password = b hostname = c.test }",
      "lost",
      "1: provider dhis, c.test: moor has no target for dhis",
    ],
    [
      "provider dyndns.org:2 { username = a hostname = c.test }",
      "lost",
      "1: provider dyndns.org:2, c.test: it has no password",
    ],
    ["provider dyndns.org:2 { username = a password = b }", "lost", "1: provider dyndns.org:2: it has no hostname"],
    [
      'custom x { ddns-server = s.test ddns-path = "/u?domain=%u&password=%p&host=%h" hostname = c.test }',
      "lost",
      "does not contain the address",
    ],
    ["custom x { username = a password = b hostname = c.test }", "lost", "1: custom x, c.test: it has no ddns-server"],
    ['include("/etc/more.conf")', "lost", "1: include: moor does not read other files"],
    ["secure-ssl = false", "lost", "1: secure-ssl: moor always checks certificates"],
    ["forced-update = 100", "lost", "1: forced-update: moor writes only what has changed"],
    ["exec = /bin/x", "lost", "1: exec: write `run:` in the new config"],
    [
      "provider ionos.com { username = a password = b hostname = c.test }",
      "lost",
      "1: provider ionos.com, c.test: moor cannot read the settings for ionos.com; write them by hand: `api: ionos`",
    ],
    ["colour = blue", "lost", "1: moor does not know this setting"],
    [
      "provider dyndns.org:2 { ssl = false username = a password = b hostname = c.test }",
      "assumed",
      "1: ssl = false: moor always uses HTTPS",
    ],
    [
      "allow-ipv6 = true provider zoneedit.com { username = a password = b hostname = c.test }",
      "lost",
      "1: c.test: `api: zoneedit` writes only IPv4 addresses",
    ],
    ["allow-ipv6 = true", "assumed", "2: good.test: with allow-ipv6 the file does not say which records the name has"],
  ])("%s", async ([line, kind, expected]) => {
    const { code, config, [kind]: said } = await importConfig(`${line}\n${good}\n`);
    expect(said.join("\n")).toContain(expected);
    expect([code, JSON.stringify(config)]).toEqual([0, expect.stringContaining('"name":"@","zone":"good.test"')]);
  });

  it.for([
    ["provider dyndns.org {\n username = a\n", "old:2: a section is never closed"],
    [
      "provider dyndns.org {\n username a }\n",
      "old:2: a word is followed neither by = nor by {; quote a value that has spaces",
    ],
    ['provider dyndns.org {\n username = "a }\n', "old:2: a quote or a comment is never closed"],
    ["provider dyndns.org {\n username = }\n", "old:2: a setting has no value"],
    ["provider dyndns.org {\n = a }\n", "old:2: a setting is expected, not ="],
  ] as const)("a fault ends the import: %s", async ([text, expected]) => {
    const { code, said } = await importConfig(text);
    expect([code, said]).toEqual([2, `${expected}; inadyn could not read it either.\n`]);
  });
});
