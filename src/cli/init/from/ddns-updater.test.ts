import { describe, expect, it } from "vitest";
import { importConfig } from "../../../../test/rig/cli/import-config.ts";

const several = `{
	"settings": [
		{
			"provider": "cloudflare",
			"zone_identifier": "023e105f4ecef8ad9ca31a8372d0c353",
			"domain": "example.org, www.example.org",
			"ttl": 600,
			"token": "cf-t0ken",
			"ip_version": "ipv4"
		},
		{
			"provider": "cloudflare",
			"zone_identifier": "023e105f4ecef8ad9ca31a8372d0c353",
			"domain": "www.example.org",
			"ttl": 1,
			"token": "cf-t0ken",
			"ip_version": "ipv6",
			"ipv6_suffix": "0:0:0:0:72ad:8fbb:a54e:bedd/64"
		},
		{ "provider": "desec", "domain": "nas.dedyn.io", "token": "desec-t0ken", "ip_version": "ipv4" }
	]
}
`;
const older = `{"settings": [
  {"provider": "noip", "domain": "ddns.net", "host": "a,b", "username": "me", "password": "pw", "ip_version": "ipv4", "provider_ip": true},
  {"provider": "he", "domain": "example.net", "host": "@", "password": "key", "ip_version": "ipv4"},
  {"provider": "dyn", "domain": "x.dyndns.org", "username": "me", "client_key": "ck"}
]}`;
const servers = `{"settings": [
  {"provider": "rfc2136", "domain": "host.sub.example.com", "zone": "example.com", "server": "ns1.example.com:53",
   "tsig_key_name": "ddns", "tsig_secret": "c2VjcmV0", "ip_version": "ipv4", "ttl": 300},
  {"provider": "powerdns", "domain": "example.net", "server_url": "https://pdns.example.net:8081", "api_key": "k3y", "ip_version": "ipv4"}
]}`;
const web = { web: { kind: "web" } };
const base = { interval: "30s", public: "require", sources: web };

describe("a config of ddns-updater", () => {
  it.for<[string, string, Record<string, unknown>, Record<string, string>]>([
    [
      "several names at two services",
      several,
      {
        ...base,
        targets: {
          cloudflare: { api: "cloudflare", token: { file: "secrets/cloudflare-token" } },
          desec: { api: "desec", token: { file: "secrets/desec-token" } },
        },
        names: [
          { name: "@", zone: "example.org", target: "cloudflare", ttl: 600, create: true, ipv4: true },
          {
            name: "www",
            zone: "example.org",
            target: "cloudflare",
            ttl: 600,
            create: true,
            ipv4: true,
            ipv6: { host: "0:0:0:0:72ad:8fbb:a54e:bedd", prefix: 64 },
          },
          { name: "@", zone: "nas.dedyn.io", target: "desec", create: true, ipv4: true },
        ],
      },
      { "secrets/cloudflare-token": "cf-t0ken", "secrets/desec-token": "desec-t0ken" },
    ],
    [
      "the older form, with hosts",
      older,
      {
        ...base,
        targets: {
          dyndns2: { api: "dyndns2", service: "noip", user: "me", password: { file: "secrets/dyndns2-password" } },
          "dyndns2-2": {
            api: "dyndns2",
            service: "he",
            user: "example.net",
            password: { file: "secrets/dyndns2-2-password" },
          },
          "dyndns2-3": { api: "dyndns2", service: "dyn", user: "me", password: { file: "secrets/dyndns2-3-password" } },
        },
        names: [
          { name: "a", zone: "ddns.net", target: "dyndns2", ipv4: true },
          { name: "b", zone: "ddns.net", target: "dyndns2", ipv4: true },
          { name: "@", zone: "example.net", target: "dyndns2-2", ipv4: true },
          { name: "x", zone: "dyndns.org", target: "dyndns2-3", ipv4: true },
        ],
      },
      {
        "secrets/dyndns2-password": "pw",
        "secrets/dyndns2-2-password": "key",
        "secrets/dyndns2-3-password": "ck",
      },
    ],
    [
      "servers of one's own",
      servers,
      {
        ...base,
        targets: {
          rfc2136: { api: "rfc2136", server: "ns1.example.com", keyFile: "secrets/rfc2136-keyFile" },
          powerdns: {
            api: "powerdns",
            url: "https://pdns.example.net:8081/",
            token: { file: "secrets/powerdns-token" },
          },
        },
        names: [
          { name: "host.sub", zone: "example.com", target: "rfc2136", ttl: 300, create: true, ipv4: true },
          { name: "@", zone: "example.net", target: "powerdns", create: true, ipv4: true },
        ],
      },
      {
        "secrets/rfc2136-keyFile": 'key "ddns" { algorithm hmac-sha256; secret "c2VjcmV0"; };',
        "secrets/powerdns-token": "k3y",
      },
    ],
  ])("%s", async ([, text, expected, secrets]) => {
    const { code, config, secrets: kept, said } = await importConfig(text);
    expect([code, said]).toEqual([0, expect.any(String)]);
    expect(config).toEqual(expected);
    expect(kept).toEqual(secrets);
    expect(said).not.toMatch(/t0ken|c2VjcmV0|k3y/);
  });
});

describe("the hosted services of ddns-updater", () => {
  it.for<[string, string, Record<string, unknown>, string]>([
    ["gandi", '"personal_access_token": "a"', {}, "token"],
    ["digitalocean", '"token": "a"', {}, "token"],
    ["ionos", '"api_key": "a"', {}, "token"],
    ["namecheap", '"password": "a"', {}, "token"],
    ["porkbun", '"api_key": "a", "secret_api_key": "b"', {}, "key secret"],
    ["route53", '"access_key": "a", "secret_key": "b", "zone_id": "Z"', {}, "key secret"],
    ["netcup", '"api_key": "a", "password": "b", "customer_number": "12"', { customer: "12" }, "key password"],
    [
      "ovh",
      '"mode": "api", "app_key": "a", "app_secret": "b", "consumer_key": "c"',
      {},
      "applicationKey applicationSecret consumerKey",
    ],
  ])("%s", async ([provider, keys, settings, secrets]) => {
    const text = `{"settings": [{"provider": "${provider}", "domain": "d.test", "owner": "a", "ip_version": "ipv4", ${keys}}]}`;
    const { config, secrets: kept, lost } = await importConfig(text);
    expect(lost).toEqual([]);
    const files = secrets.split(" ").map((key) => [key, { file: `secrets/${provider}-${key}` }]);
    expect(config?.targets).toEqual({ [provider]: { api: provider, ...settings, ...Object.fromEntries(files) } });
    expect(Object.values(kept).toSorted()).toEqual(["a", "b", "c"].slice(0, files.length));
    // At DigitalOcean, ddns-updater does not create records; at Namecheap, moor cannot.
    const create = ["digitalocean", "namecheap"].includes(provider) ? {} : { create: true };
    expect(config?.names).toEqual([{ name: "a", zone: "d.test", ...create, ipv4: true }]);
  });
});

describe("one entry of a config of ddns-updater", () => {
  const good = '{"provider": "desec", "domain": "good.test", "token": "t", "ip_version": "ipv4"}';
  it.for<[string, "lost" | "assumed", string]>([
    [
      '{"provider": "aliyun", "domain": "c.duckdns.org", "token": "t"}',
      "lost",
      "2: c.duckdns.org: moor has no target for aliyun",
    ],
    [
      '{"provider": "cloudflare", "domain": "c.test", "email": "a@c.test", "key": "k"}',
      "lost",
      "2: c.test: moor needs an API token",
    ],
    [
      '{"provider": "ovh", "domain": "c.test", "mode": "api", "app_key": "a"}',
      "lost",
      "2: c.test: it has no app_secret, consumer_key",
    ],
    ['{"provider": "desec", "domain": "c.test"}', "lost", "2: c.test: it has no token"],
    ['{"domain": "c.test"}', "lost", "2: c.test: it has no provider"],
    ['{"provider": "desec"}', "lost", "2: an entry without a domain: it has no domain"],
    [
      '{"provider": "rfc2136", "domain": "c.test", "server": "ns.test:53"}',
      "lost",
      "2: c.test: it has no TSIG key; moor signs its updates",
    ],
    [
      '{"provider": "powerdns", "domain": "c.test", "server_url": "http://pdns.test:8081", "api_key": "k"}',
      "lost",
      "would send its secret unencrypted",
    ],
    [
      '{"provider": "desec", "domain": "c.test", "token": "t", "proxied": true}',
      "lost",
      "2: proxied: moor keeps the proxy setting of the record",
    ],
    [
      '{"provider": "desec", "domain": "c.test", "token": "t", "ip_version": "ipv6", "ipv6_suffix": "x"}',
      "lost",
      "2: c.test: ipv6_suffix must be a host part",
    ],
    [
      '{"provider": "desec", "domain": "good.test", "token": "t", "ip_version": "ipv4"}',
      "lost",
      "3: good.test: it is in the file twice",
    ],
    [
      '{"provider": "desec", "domain": "c.test", "token": "t"}',
      "assumed",
      "2: c.test: ip_version does not say which record the name has",
    ],
    ['{"provider": "hetzner", "domain": "c.test", "token": "t"}', "assumed", "2: Hetzner closed its old DNS API"],
  ])("%s", async ([entry, kind, expected]) => {
    const { code, config, [kind]: said } = await importConfig(`{"settings": [\n${entry},\n${good}\n]}\n`);
    expect(said.join("\n")).toContain(expected);
    expect([code, JSON.stringify(config)]).toEqual([0, expect.stringContaining('"name":"@","zone":"good.test"')]);
  });

  it("what is not JSON is refused with its line", async () => {
    const { code, said } = await importConfig('{"settings": [\n{"provider": ]\n');
    expect([code, said]).toEqual([2, "old:2: this is not valid JSON; ddns-updater could not read it either.\n"]);
  });
});
