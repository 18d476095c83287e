import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importConfig } from "../../../../test/rig/cli/import-config.ts";
import { readDdclientFile } from "./ddclient-file.ts";

const perl = "perl";

const cloudflare = `# /etc/ddclient.conf
daemon=600              # every 10 minutes
syslog=yes
ssl=yes
use=if, if=ppp0
protocol=cloudflare, \\
zone=example.org, \\
ttl=120, \\
password='cf#t0ken' \\
example.org,home.example.org
`;
const router = `daemon=5m
usev4=webv4, webv4=ipify-ipv4
usev6=ifv6, ifv6=eth0
protocol=dyndns2
server=dynupdate.no-ip.com
login=me@example.net
password=pa55,word
office.ddns.net, shop.ddns.net
`;
const desec = `use=cmd, cmd="/usr/local/bin/wan-ip --v4"
protocol=dyndns2, server=update.dedyn.io, login=nas.dedyn.io, password=t0ken nas.dedyn.io
`;
const tsigKey = 'key "home" { algorithm hmac-sha256; secret "c2VjcmV0"; };\n';
const nsupdate = `use=if, if=eth1
protocol=nsupdate
server=ns1.example.org
zone=example.org
ttl=300
login=/usr/bin/nsupdate
password=home.key
home.example.org
`;
const own = `use=if, if=eth0
ssl=yes
protocol=dyndns2, server=dyn.example.net:8443, script=/update login=me password='p\u0007w' a.example.net
protocol=dyndns2, server=dyn.example.net:8443, script=/update login=me password=pw b.example.net
protocol=dyndns2, server=dyn.example.net:8443, script=/update login=other password=pw2 c.example.net
`;

const dyndns2 = { api: "dyndns2", url: "https://dyn.example.net:8443/update" };

describe("a config of ddclient", () => {
  it.for<[string, string, Record<string, unknown>, Record<string, string>]>([
    [
      "Cloudflare, from an interface",
      cloudflare,
      {
        interval: "10m",
        sources: { interface: { kind: "interface" } },
        targets: { cloudflare: { api: "cloudflare", token: { file: "secrets/cloudflare-token" } } },
        names: [
          { name: "@", zone: "example.org", ttl: 120, ipv4: "ppp0" },
          { name: "home", zone: "example.org", ttl: 120, ipv4: "ppp0" },
        ],
      },
      { "secrets/cloudflare-token": "cf#t0ken" },
    ],
    [
      "a service that ddclient knows, from the web and an interface",
      router,
      {
        interval: "5m",
        sources: { web: { kind: "web", every: "5m" }, interface: { kind: "interface" } },
        targets: {
          dyndns2: {
            api: "dyndns2",
            service: "noip",
            user: "me@example.net",
            password: { file: "secrets/dyndns2-password" },
          },
        },
        names: ["office", "shop"].map((name) => ({
          name,
          zone: "ddns.net",
          ipv4: { source: "web" },
          ipv6: { source: "interface", interface: "eth0" },
        })),
      },
      { "secrets/dyndns2-password": "pa55,word" },
    ],
    [
      "deSEC over dyndns2, from a program",
      desec,
      {
        interval: "30s",
        sources: { command: { kind: "command", command: ["/bin/sh", "-c", "/usr/local/bin/wan-ip --v4"] } },
        targets: { desec: { api: "desec", token: { file: "secrets/desec-token" } } },
        names: [{ name: "@", zone: "nas.dedyn.io", create: true, ipv4: true }],
      },
      { "secrets/desec-token": "t0ken" },
    ],
    [
      "a nameserver",
      nsupdate,
      {
        interval: "30s",
        sources: { interface: { kind: "interface" } },
        targets: { rfc2136: { api: "rfc2136", server: "ns1.example.org", keyFile: "secrets/rfc2136-keyFile" } },
        names: [{ name: "home", zone: "example.org", ttl: 300, create: true, ipv4: "eth1" }],
      },
      { "secrets/rfc2136-keyFile": tsigKey.trim() },
    ],
    [
      "a server of one's own, with two accounts",
      own,
      {
        interval: "30s",
        sources: { interface: { kind: "interface" } },
        targets: {
          dyndns2: { ...dyndns2, user: "me", password: { file: "secrets/dyndns2-password" } },
          "dyndns2-2": { ...dyndns2, user: "other", password: { file: "secrets/dyndns2-2-password" } },
        },
        names: [
          { name: "b", zone: "example.net", target: "dyndns2", ipv4: "eth0" },
          { name: "c", zone: "example.net", target: "dyndns2-2", ipv4: "eth0" },
        ],
      },
      { "secrets/dyndns2-password": "pw", "secrets/dyndns2-2-password": "pw2" },
    ],
  ])("%s", async ([, text, expected, secrets]) => {
    const { code, config, secrets: kept, said } = await importConfig(text, { "home.key": tsigKey });
    expect([code, said]).toEqual([0, expect.any(String)]);
    expect(config).toEqual(expected);
    expect(kept).toEqual(secrets);
    for (const secret of Object.values(secrets)) expect(said).not.toContain(secret);
  });

  it("lists what has no place in the new config, and what was assumed, with the line", async () => {
    expect((await importConfig(cloudflare)).lost).toEqual(["3: syslog: moor logs to its output"]);
    const { assumed } = await importConfig(router);
    expect(assumed).toEqual([
      "2: usev4=webv4: moor asks several well-known services instead, and two must agree; to ask others, set `services:` of the source",
      "8: office.ddns.net: the file does not name its zone; ddns.net is assumed",
      "8: shop.ddns.net: the file does not name its zone; ddns.net is assumed",
    ]);
    expect((await importConfig(own)).lost).toEqual([
      "3: a.example.net: password of target dyndns2 contains a line break or a control character; put only the secret there",
    ]);
  });
});

describe("the hosted services of ddclient", () => {
  const create = { create: true };
  it.for<[string, string, Record<string, string>, typeof create | undefined]>([
    ["protocol=digitalocean, zone=d.test, password=t", "digitalocean", { token: "t" }, undefined],
    ["protocol=gandi, zone=d.test, password=t, use-personal-access-token=yes", "gandi", { token: "t" }, create],
    ["protocol=namecheap, login=d.test, password=t", "namecheap", { token: "t" }, undefined],
    ["protocol=porkbun, root-domain=d.test, apikey=k, secretapikey=s", "porkbun", { key: "k", secret: "s" }, undefined],
    ["protocol=hetzner, zone=d.test, password=t", "hetzner", { token: "t" }, create],
    // It sends PUT without reading first.
    ["protocol=godaddy, zone=d.test, login=k, password=s", "godaddy", { key: "k", secret: "s" }, create],
  ])("%s", async ([line, api, secrets, creates]) => {
    const { config, secrets: kept, lost } = await importConfig(`use=if, if=eth0\n${line} a.b.d.test\n`);
    expect(lost).toEqual([]);
    const files = Object.keys(secrets).map((key) => [key, { file: `secrets/${api}-${key}` }]);
    expect(config?.targets).toEqual({ [api]: { api, ...Object.fromEntries(files) } });
    expect(Object.values(kept).toSorted()).toEqual(Object.values(secrets).toSorted());
    expect(config?.names).toEqual([{ name: "a.b", zone: "d.test", ...creates, ipv4: "eth0" }]);
  });

  it("Cloudflare, with comments after the backslashes as in ddclient's own sample", async () => {
    const { config, secrets } = await importConfig(`use=if, if=eth0
protocol=cloudflare,        \\
zone=d.test,                \\
login=token,     \\ # Only needed if you are using your global API key.
password=t0ken              \\ # It must have the permissions "Zone - DNS - Edit".
d.test,my.d.test
`);
    expect(config?.targets).toEqual({ cloudflare: { api: "cloudflare", token: { file: "secrets/cloudflare-token" } } });
    expect(config?.names).toEqual(["@", "my"].map((name) => ({ name, zone: "d.test", ipv4: "eth0" })));
    expect(Object.values(secrets)).toEqual(["t0ken"]);
  });

  it.for([
    ["he.net", "he", "a.d.test"],
    ["dynu", "dynu", "me"],
  ])("a dyndns2 service by its name: %s", async ([protocol, service, user]) => {
    const { config } = await importConfig(`use=if, if=eth0\nprotocol=${protocol}, login=me, password=t a.d.test\n`);
    expect(config?.targets).toMatchObject({ dyndns2: { api: "dyndns2", service, user } });
  });
});

/** Each line stands before one good host; then what is said about the line. */
describe("one line of a config of ddclient", () => {
  const host = "protocol=dyndns2, use=if, if=eth0, server=s.test, login=l password=p good.test";
  it.for<[string, "lost" | "assumed", string | undefined]>([
    ["protocol=nfsn, login=a, password=b c.test", "lost", "1: c.test: moor has no target for protocol=nfsn"],
    [
      "protocol=cloudflare, login=me@a.test, password=b c.test",
      "lost",
      "moor needs an API token, not the global API key",
    ],
    ["protocol=cloudflare, zone=c.test c.test", "lost", "1: c.test: it has no token"],
    ["protocol=nsupdate, server=ns.test, password=/nowhere c.test", "lost", "its key file /nowhere cannot be read"],
    [
      "use=if, protocol=nsupdate, server=ns.test, password=old c.test",
      "lost",
      'has no key "name" { algorithm …; secret "…"; };',
    ],
    ["protocol=dyndns2, server=s.test, password=b c.test", "lost", "1: c.test: it has no user name"],
    ["use=ip, ip=192.0.2.1, login=a, password=b c.test", "lost", "use=ip: moor does not publish fixed addresses"],
    ["login=a, password=b c.test", "lost", "1: c.test: no setting says where moor can read its address"],
    ["usev4=ifv4, login=a, password=b c.test", "lost", "1: usev4=ifv4: moor needs the name of the interface"],
    ["use=if, usev4=webv4, login=a, password=b c.test", "lost", "1: use=if: usev4 is set too, and overrides it"],
    ["ssl = yes", "lost", "1: ssl: ddclient accepts no spaces around the equals sign"],
    ["use=if, login=a, password=b not_a..host", "lost", "1: not_a..host is not a host name"],
    [
      "use=if, login=a, password=correct horse",
      "lost",
      "1: a host without a dot is not a domain name; if it is a part",
    ],
    [
      "protocol=netcup, login=a, password=b c.test",
      "lost",
      "1: c.test: moor cannot read the settings for protocol=netcup; write them by hand: `api: netcup`",
    ],
    ["postscript=/bin/x", "lost", "1: postscript: write `run:` in the new config"],
    ["mail=root", "lost", "1: mail: `notify:` in the config"],
    ["colour=blue", "lost", "1: moor does not know this setting"],
    ["password_env=PW", "lost", "1: password_env: put the value itself into the file"],
    ["daemon=0", "lost", "1: daemon=0: `moor update --once` runs once"],
    ["protocol=gandi, use=if, password=b c.test", "lost", "1: c.test: moor needs a personal access token"],
    ["use=if, ttl=60, login=a, password=b c.test", "lost", "1: c.test: the service chooses the TTL"],
    ["use=if, ssl_ca_file=/nowhere, login=a, password=b c.test", "lost", "its ssl_ca_file /nowhere cannot be read"],
    ["ssl=no", "assumed", "1: ssl=no: moor always uses HTTPS"],
    [
      "use=linksys, fw=192.168.1.1, login=a, password=b c.test",
      "assumed",
      "1: use=linksys: moor cannot read the web page",
    ],
    [
      "use=if, login=a, password=b, c.test",
      "assumed",
      "1: password: the comma at the end of the value is not part of it",
    ],
    ['use=if, login=a, password="b" c.test', "assumed", "1: password: the quotes around the value are not part of it"],
    ["use=if, login='a, password=b c.test", "assumed", "1: login: its quote is never closed"],
    ["protocol=hetzner, use=if, zone=c.test, password=b c.test", "assumed", "1: Hetzner closed its old DNS API"],
    ["protocol=hetzner, use=if, zone=d.test, password=b c.test", "assumed", "1: c.test: it is not in the zone d.test"],
  ])("%s", async ([line, kind, expected]) => {
    const { code, config, [kind]: said } = await importConfig(`${line}\n${host}\n`);
    expect(said.join("\n")).toContain(expected);
    expect([code, JSON.stringify(config)]).toEqual([0, expect.stringContaining('"name":"@","zone":"good.test"')]);
  });
});

it("reads lines as ddclient itself does, but for quotes and commas around a password", () => {
  const text = `${cloudflare}${router}${desec}${nsupdate}${own}
login="my login" password='it''s #1, ok' c.test
password=ab#cd e.test # comment
password=ab\\c, login=a\\,b f.test
protocol=dyndns2 g.test userg passg
host=h.test login=x, password=y
   use=web,web='checkip.test/', web-skip="Current IP"   \\
   i.test ,  j.test
`;
  const folder = mkdtempSync(join(tmpdir(), "moor-ddclient-"));
  writeFileSync(join(folder, "ddclient.conf"), text, { mode: 0o600 });
  const script = `package ddclient; require "/usr/bin/ddclient"; my (%c, %g); read_config($ARGV[0], \\%c, \\%g);
    for my $h (sort keys %c) { print join("|", $h, map { $c{$h}{$_} // "" } qw(login password server use if zone)), "\\n" }`;
  const theirs = execFileSync(perl, ["-e", script, join(folder, "ddclient.conf")], {
    encoding: "utf8",
    stdio: "pipe",
  });
  rmSync(folder, { recursive: true });

  const all = new Map<string, string>();
  const hosts = new Map<string, string>();
  for (const { settings, hosts: named, login, password } of readDdclientFile(text)) {
    const own = new Map([...all, ...settings.map(({ key, value }) => [key, value] as const)]);
    if (login) own.set("login", login);
    if (password) own.set("password", password);
    if (named.length === 0) for (const { key, value } of settings) all.set(key, value);
    const shown = ["login", "password", "server", "use", "if", "zone"].map((key) => own.get(key) ?? "");
    for (const host of named) hosts.set(host, [host, ...shown].join("|"));
  }
  const ours = [...hosts.keys()].toSorted().map((host) => hosts.get(host));
  expect(ours).toEqual(theirs.trim().replace("|ab\\c,|", "|ab\\c|").split("\n"));
});
