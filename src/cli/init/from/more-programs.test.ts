import { describe, expect, it } from "vitest";
import { importConfig } from "../../../../test/rig/cli/import-config.ts";

describe("favonia/cloudflare-ddns", () => {
  const compose = `services:
  cloudflare-ddns:
    image: favonia/cloudflare-ddns:1
    environment:
      - CLOUDFLARE_API_TOKEN=t0ken
      - DOMAINS=example.org,www.example.org
      - IP4_PROVIDER=local.iface:eth0
      - IP6_DOMAINS=six.example.org
      - PROXIED=true
`;

  it("is carried over from a Compose file", async () => {
    const { code, config, secrets, lost } = await importConfig(compose);
    expect([code, secrets]).toEqual([0, { "secrets/cloudflare-token": "t0ken" }]);
    expect(lost).toEqual(["9: PROXIED: moor keeps the proxy setting of the record"]);
    expect(config).toMatchObject({
      names: [
        {
          name: "@",
          zone: "example.org",
          create: true,
          ipv4: { source: "interface", interface: "eth0" },
          ipv6: { source: "web" },
        },
        { name: "www", zone: "example.org" },
        { name: "six", zone: "example.org", ipv6: true },
      ],
    });
  });

  it.each([
    ["CF_API_TOKEN=t\nDOMAINS=a.example.org\nIP6_PROVIDER=none\nUPDATE_CRON=@every 10m\n", { interval: "10m" }],
    ["export CLOUDFLARE_API_TOKEN='t'\nexport IP4_DOMAINS=\"a.example.org\" # home\n", {}],
    [
      "docker run -d \\\n  -e CLOUDFLARE_API_TOKEN_FILE=token \\\n  -e DOMAINS=a.example.org \\\n  -e IP6_PROVIDER=none \\\n  x\n",
      {},
    ],
    ["environment:\n  CLOUDFLARE_API_TOKEN: t\n  DOMAINS: a.example.org\n  IP6_PROVIDER: none\n", {}],
  ])("is read however it is written: %j", async (text, more) => {
    const { code, config, secrets } = await importConfig(text, { token: "t\n" });
    expect([code, secrets]).toEqual([0, { "secrets/cloudflare-token": "t" }]);
    expect(config).toMatchObject({ names: [{ name: "a", zone: "example.org", ipv4: true }], ...more });
    expect(JSON.stringify(config?.names)).not.toContain("ipv6");
  });

  it("says what it needs", async () => {
    const { said } = await importConfig("CLOUDFLARE_API_TOKEN_FILE=/nowhere\nDOMAINS=a.example.org\n");
    expect(said).toContain("old:1: its token file /nowhere cannot be read");
    const { lost } = await importConfig(
      "CF_API_TOKEN=t\nDOMAINS=a.example.org\nIP4_PROVIDER=local\nIP6_PROVIDER=static:::1\n",
    );
    expect(lost).toEqual([
      "3: local: moor needs the name of the interface; write local.iface:NAME and import again",
      "4: static:::1: moor does not publish fixed addresses",
    ]);
  });
});

describe("ddns-go", () => {
  const account = (dns: string, domains: string) => `dnsconf:
    - name: ""
      ipv4:
        enable: true
        gettype: netInterface
        url: https://4.example
        netinterface: eth0
        cmd: ""
        domains: [${domains}]
      ipv6:
        enable: false
        gettype: url
        domains: [x.example.org]
      dns: { ${dns} }
      ttl: "600"
user: { username: a, password: b }
webhook: { webhookurl: "" }
`;

  it.each([
    ['name: cloudflare, id: "", secret: t', "cloudflare", { "secrets/cloudflare-token": "t" }],
    ["name: godaddy, id: k, secret: s", "godaddy", { "secrets/godaddy-key": "k", "secrets/godaddy-secret": "s" }],
    ['name: dynv6, id: "", secret: t', "dynv6", { "secrets/dynv6-token": "t" }],
  ])("is carried over: %s", async (dns, api, secrets) => {
    const result = await importConfig(account(dns, '"www:example.co.uk", "home.example.org?proxied=true", ""'));
    expect([result.code, result.secrets]).toEqual([0, secrets]);
    expect(result.config).toMatchObject({ targets: { [api]: { api } } });
    expect(result.config?.names).toMatchObject([
      { name: "www", zone: "example.co.uk", ipv4: "eth0" },
      { name: "home", zone: "example.org", ipv4: "eth0" },
    ]);
    expect(result.lost.join()).toMatch(/webhook: `notify:`/);
  });

  it("says what moor has no target for, or cannot read", async () => {
    expect((await importConfig(account("name: alidns, id: a, secret: b", "a.example.org"))).lost.join()).toContain(
      "moor has no target for alidns",
    );
    expect(
      (await importConfig(account('name: callback, id: "https://x?ip=#{ip}"', "a.example.org"))).lost.join(),
    ).toContain("write `api: http` by hand");
  });

  it("of an old version had one account", async () => {
    const text =
      "ipv4:\n  enable: true\n  gettype: url\n  domains:\n    - a.example.org\ndns:\n  name: cloudflare\n  secret: t\n";
    expect((await importConfig(text)).config).toMatchObject({
      names: [{ name: "a", zone: "example.org", ipv4: true }],
    });
  });
});

describe("OpenWrt's ddns-scripts", () => {
  const service = (lines: string, name = "one") =>
    `config ddns 'global'\n\toption ddns_dateformat '%F'\n\nconfig service '${name}'\n\toption enabled '1'\n${lines
      .split("; ")
      .map((line) => `\toption ${line}\n`)
      .join("")}`;

  it.each([
    [
      "service_name 'cloudflare.com-v4'; domain 'home@example.co.uk'; username 'Bearer'; password 't'",
      "cloudflare",
      { name: "home", zone: "example.co.uk", ipv4: true },
    ],
    [
      "service_name 'duckdns.org'; lookup_host 'x.duckdns.org'; username 'x'; password 't'; use_ipv6 '1'",
      "duckdns",
      { ipv6: true },
    ],
    [
      'service_name "dyn.com"; lookup_host a.example.org; domain a.example.org; username u; password p; ip_source interface; ip_interface eth1',
      "dyndns2",
      { name: "a", ipv4: "eth1" },
    ],
    ["service_name 'afraid.org-v2-token'; lookup_host 'a.example.org'; password 't'", "http", { name: "a" }],
    [
      "update_url 'http://[USERNAME]:[PASSWORD]@dns.example.net/nic/update?hostname=[DOMAIN]&myip=[IP]'; lookup_host 'a.example.org'; username 'u'; password 'p'",
      "dyndns2",
      { name: "a" },
    ],
    [
      "update_url 'https://dns.example.net/set?host=[DOMAIN]&token=[PASSWORD]&ip=[IP]'; lookup_host 'a.example.org'; password 'p'",
      "http",
      { name: "a" },
    ],
  ])("is carried over: %s", async (lines, api, name) => {
    const { code, said, config } = await importConfig(service(lines));
    expect([code, code === 0 ? "" : said]).toEqual([0, ""]);
    expect(Object.values(config?.targets as object)).toMatchObject([{ api }]);
    expect(config?.names).toMatchObject([name]);
    expect(JSON.stringify(config?.names)).not.toContain("create");
  });

  it.each(["?[PASSWORD]&address=[IP]", "/u/[PASSWORD]/?ip=[IP]", "?host=[DOMAIN]&key=[PASSWORD]&ip=[IP]"])(
    "the password of a request is in a file: %s",
    async (request) => {
      const lines = `update_url 'https://dns.example.net/set${request}'; lookup_host 'a.example.org'; password 'p4ss w'`;
      const { config, secrets } = await importConfig(service(lines));
      expect(Object.values(secrets)).toEqual(["p4ss w"]);
      expect(JSON.stringify(config)).toMatch(/[/?=]\{password\}[/&]/);
      expect(JSON.stringify(config)).not.toContain("p4ss");
    },
  );

  it("joins the services of both families, and leaves out what is switched off", async () => {
    const common = "service_name 'duckdns.org'; lookup_host 'x.duckdns.org'; password 't'";
    const off = service(common, "off").replace("enabled '1'", "enabled '0'");
    const { config, lost } = await importConfig(`${service(common)}\n${service(`${common}; use_ipv6 '1'`)}\n${off}`);
    expect(config?.names).toMatchObject([{ name: "x", ipv4: true, ipv6: true }]);
    expect(lost.join()).toContain("off: it is switched off there");
  });

  it("needs a token where the file has the global key", async () => {
    const lines =
      "service_name 'cloudflare.com-v4'; domain 'home@example.org'; username 'me@example.org'; password 'k'";
    expect((await importConfig(service(lines))).lost.join()).toContain("moor needs an API token");
  });
});

describe("what the other programs write about services", () => {
  it.each([
    ["provider default@domene.shop {\n username = a\n password = b\n hostname = x.example.org\n}\n", "domeneshop"],
    ['{"settings":[{"provider":"vultr","domain":"x.example.org","apiKey":"k","ip_version":"ipv4"}]}', "vultr"],
    [
      '{"settings":[{"provider":"freedns","domain":"example.org","owner":"x","token":"t","ip_version":"ipv4"}]}',
      "http",
    ],
  ])("is known: %s", async (text, api) => {
    const { said, config } = await importConfig(text);
    expect(Object.values((config?.targets ?? { said }) as object)).toMatchObject([{ api }]);
  });

  it.each([
    '{"settings":[{"provider":"cloudflare","domain":"x.example.org","token":"t"}]}',
    "allow-ipv6 = true\nprovider cloudflare.com {\n username = example.org\n password = t\n hostname = x.example.org\n}\n",
  ])("creates no record of a family that the file does not name: %s", async (text) => {
    const { config } = await importConfig(text);
    expect(config?.names).toMatchObject([{ name: "x" }]);
    expect(JSON.stringify(config?.names)).not.toContain("create");
  });

  it("gives no advice about quotes if the protocol is not known", async () => {
    const { said } = await importConfig('use=if, if=eth0\nprotocol=nobody, login=a, password="b" host\n');
    expect(said).toContain("moor has no target for protocol=nobody");
    expect(said).not.toMatch(/quote/);
  });
});
