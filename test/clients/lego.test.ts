import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  authorityUrl,
  builtInName,
  type HostedName,
  hostName,
  nameserver,
  startAuthority,
} from "../rig/hosted-name.ts";
import { administer } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { secretIn } from "../rig/services.ts";

/**
 * A certificate for a name that only moor knows: its API receives the challenge, its nameserver shows it to the
 * authority.
 */
describe("lego, as Debian packages it", () => {
  let inside: Namespace;
  let folder: string;
  let name: HostedName;
  let zone: string;

  beforeAll(async () => {
    inside = await openNamespace();
    folder = mkdtempSync(join(tmpdir(), "moor-lego-"));
    name = await hostName(inside, folder);
    zone = (await name.ask("POST", "/zones", { name: "example.org", ttl: 60 })).zone?.id ?? "";
    await name.ask("POST", "/records", { zone_id: zone, type: "NS", name: "@", value: `${nameserver}.` });
    await name.ask("POST", "/records", { zone_id: zone, type: "A", name: "ns1", value: "127.0.0.1" });
    await startAuthority(inside, folder);
  });
  afterAll(() => inside.close());

  it("gets a certificate with a wildcard, and leaves nothing behind in the zone", async () => {
    const words = ["--server", authorityUrl, "--email", "a@example.org", "-a", "--path", join(folder, "lego")];
    const dns = [
      "--dns",
      "hetzner",
      "--dns.resolvers",
      "127.0.0.1:53",
      "-d",
      "home.example.org",
      "-d",
      "*.example.org",
    ];
    const env = {
      HETZNER_API_KEY: name.token,
      HETZNER_PROPAGATION_TIMEOUT: "120",
      HETZNER_POLLING_INTERVAL: "1",
      SSL_CERT_FILE: name.caFile,
    };
    const { code, out, err } = await name.run(["lego", ...words, ...dns, "run"], env);
    expect([code, out + err]).toEqual([0, expect.stringContaining("Server responded with a certificate")]);
    const { records = [] } = await name.ask("GET", `/records?zone_id=${zone}`);
    expect(records.filter(({ type }) => type === "TXT")).toEqual([]);
  });

  const authority = ["--server", authorityUrl, "--email", "a@example.org", "-a"];
  const resolvers = ["--dns.resolvers", "127.0.0.1:53"];
  const trust = () => ({ SSL_CERT_FILE: name.caFile });
  const textsLeft = async () => {
    const { records = [] } = await name.ask("GET", `/records?zone_id=${zone}`);
    return records.filter(({ type }) => type === "TXT");
  };
  const data = () => ["--data", join(folder, "data")];

  it("gets one through httpreq, with a token for one name", async () => {
    const file = join(folder, "challenge-token");
    const only = ["--zone", "example.org", "--set", "_acme-challenge.one TXT"];
    await administer(["token", "add", ...only, "--to", file, ...data()]);
    const env = {
      ...trust(),
      HTTPREQ_ENDPOINT: `https://${builtInName}/httpreq`,
      HTTPREQ_USERNAME: "lego",
      HTTPREQ_PASSWORD: secretIn(file),
      HTTPREQ_POLLING_INTERVAL: "1",
    };
    const words = [
      ...authority,
      "--path",
      join(folder, "httpreq"),
      "--dns",
      "httpreq",
      ...resolvers,
      "-d",
      "one.example.org",
    ];
    const { code, out, err } = await name.run(["lego", ...words, "run"], env);
    expect([code, out + err]).toEqual([0, expect.stringContaining("Server responded with a certificate")]);
    expect(await textsLeft()).toEqual([]);
  });

  it("gets one by DNS UPDATE, with a key for one name", async () => {
    const only = ["--zone", "example.org", "--set", "_acme-challenge.two TXT"];
    const { out } = await administer(["transfer-key", "add", "lego", "--update", ...only, ...data()]);
    const [, secret = ""] = /secret "?([A-Za-z0-9+/]+=*)"?/.exec(out) ?? [];
    const env = {
      ...trust(),
      RFC2136_NAMESERVER: "127.0.0.1:53",
      RFC2136_TSIG_ALGORITHM: "hmac-sha256.",
      RFC2136_TSIG_KEY: "lego.",
      RFC2136_TSIG_SECRET: secret,
      RFC2136_POLLING_INTERVAL: "1",
    };
    const words = [
      ...authority,
      "--path",
      join(folder, "rfc2136"),
      "--dns",
      "rfc2136",
      ...resolvers,
      "-d",
      "two.example.org",
    ];
    const ended = await name.run(["lego", ...words, "run"], env);
    expect([ended.code, out + ended.out + ended.err]).toEqual([
      0,
      expect.stringContaining("Server responded with a certificate"),
    ]);
    expect(await textsLeft()).toEqual([]);
  });
});
