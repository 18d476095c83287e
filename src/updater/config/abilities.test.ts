import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../read-config.ts";

/** What a target cannot do is a fault of the config, not of the first write. */

function faultsOf(target: string, name: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "moor-abilities-"));
  writeFileSync(join(folder, "k"), "key=k\nsecret=s\n", { mode: 0o600 });
  const text = `sources: { home: { url: "http://127.0.0.1:1", keyFile: k } }
targets: { dns: { ${target} } }
names: [{ name: home, zone: example.org, ipv4: wan0, ${name} }]
`;
  writeFileSync(join(folder, "moor.yaml"), text);
  const read = readConfig("moor.yaml", { TOKEN: "0123456789" }, folder);
  rmSync(folder, { recursive: true });
  return read.ok ? [] : read.faults.map(({ code }) => code);
}

const dyndns2 = "api: dyndns2, service: noip, user: me, password: { env: TOKEN }";
const namecheap = "api: namecheap, token: { env: TOKEN }";
const cloudflare = "api: cloudflare, token: { env: TOKEN }";
const v1 = 'url: "https://dns.example.org", token: { env: TOKEN }';

const rrsets = 'api: rrsets, url: "https://dns.example.org", token: { env: TOKEN }';
const hetzner = "api: hetzner, token: { env: TOKEN }";

test.each([
  [v1, "create: true", []],
  [v1, "ttl: 60", []],
  [v1, "ttl: 20", []],
  [rrsets, "ttl: 60", []],
  [rrsets, "ttl: 20", ["ttl-too-short"]],
  [hetzner, "ttl: 59", ["ttl-too-short"]],
  [dyndns2, "create: true", ["cannot-create"]],
  [dyndns2, "ttl: 60", ["cannot-set-ttl"]],
  [dyndns2, "ipv6: wan0", []],
  [namecheap, "ipv6: wan0", ["cannot-write-ipv6"]],
  [cloudflare, "create: true, ttl: 60, ipv6: wan0", []],
])("%s with %s", (target, name, faults) => expect(faultsOf(target, name)).toEqual(faults));
