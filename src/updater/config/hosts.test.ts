import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { readConfig } from "../read-config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-hosts-"));
  writeFileSync(join(folder, "key"), "key=thekey\nsecret=thesecret\n", { mode: 0o600 });
  writeFileSync(join(folder, "token"), "thetoken", { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(hosts: string, names = "") {
  const text = `sources: { fw: { url: 'https://192.0.2.1', keyFile: key }, script: { kind: command, command: [./address] } }
targets:
  dns: { api: rrsets, url: 'https://dns.test', token: { file: token } }
  old: { api: dyndns2, service: noip, user: me, password: { file: token } }
  cheap: { api: namecheap, token: { file: token } }
changesPerHour: 30
${names}
hosts:
${hosts}
`;
  writeFileSync(join(folder, "moor.yaml"), text);
  const config = readConfig("moor.yaml", {}, folder);
  if (config.ok) return config.value.names;
  return config.faults.map(({ where, message }) => `${where.split(":")[1]}: ${message}`);
}

const site = "  - zone: example.org\n    source: fw\n    target: dns\n    interface: igb0\n";

describe("an entry of hosts", () => {
  it("is one name with IPv6 for each machine", () => {
    const names = read(`${site}    ttl: 60
    create: true
    holdDown: 10s
    names:
      nas: ::1:2
      "@": 0:0:0:0:0:0:1:3
      tv: 02:00:5e:10:00:01
      Bücher: 02-00-5E-10-00-02
`);
    const common = { zone: "example.org", target: "dns", ttl: 60, create: true };
    const rules = { changesPerHour: 30, holdDown: 10_000 };
    const host = (...last: readonly number[]) => ({
      host: { bytes: Uint8Array.from([...Array(16 - last.length).fill(0), ...last]), prefixLength: 64 },
    });
    const family = (part: object) => new Map([["ipv6", { source: "fw", devices: ["igb0"], ...part }]]);
    expect(names).toEqual([
      { name: "nas", ...common, rules, families: family(host(1, 0, 2)) },
      { name: "@", ...common, rules, families: family(host(1, 0, 3)) },
      { name: "tv", ...common, rules, families: family(host(0, 0, 0x5e, 0xff, 0xfe, 0x10, 0, 1)) },
      { name: "xn--bcher-kva", ...common, rules, families: family(host(0, 0, 0x5e, 0xff, 0xfe, 0x10, 0, 2)) },
    ]);
  });

  it("needs no interface if its source has only one connection, and may have another prefix length", () => {
    const names = read(
      "  - { zone: example.org, source: script, target: dns, prefix: 56, names: { a: '::1:0:0:0:2' } }",
    );
    expect(names).toMatchObject([
      { families: new Map([["ipv6", expect.objectContaining({ devices: ["internet"], source: "script" })]]) },
    ]);
  });

  test.each<[string, string, readonly string[]]>([
    ["no names", site, ["9: this entry has no names"]],
    ["an empty list of names", `${site}    names: {}`, ["13: names is empty"]],
    [
      "no zone, source, target and interface",
      "  - names: { a: ::1 }",
      ["9: this name has no zone", "9: this name has no source", "9: this name has no target"],
    ],
    [
      "an unknown target and no interface",
      "  - { zone: example.org, source: fw, target: dsn, names: { a: ::1 } }",
      ["9: ipv6 has no interface", '9: there is no target "dsn"'],
    ],
    [
      "wrong names together with wrong host parts",
      `${site}    names:\n      a: 2001:db8::1\n      c.example.org: ::1\n      d..e: ::1`,
      [
        '14: "2001:db8::1" is not a host part for a prefix of 64 bits',
        '15: "c.example.org" repeats the zone: it would mean c.example.org.example.org',
        "16: ",
      ],
    ],
    ["a host part that is a list", `${site}    names:\n      f: ["::1"]`, ["14: host f is a list, not text"]],
    [
      "host parts that do not fit",
      `${site}    names:\n      a: 2001:db8::1\n      b: 02:00:5e\n      c: hello`,
      [
        '14: "2001:db8::1" is not a host part for a prefix of 64 bits',
        '15: "02:00:5e" is not a MAC address',
        '16: "hello" is not a MAC address',
      ],
    ],
    [
      "a device of a source with one connection",
      "  - { zone: example.org, source: script, target: dns, interface: igb0, names: { a: ::1 } }",
      ["9: ipv6 names the device igb0, but a source of kind command knows only one connection"],
    ],
    [
      "what a target cannot do",
      `  - { zone: example.org, source: fw, target: old, create: true, interface: igb0, names: { a: ::1 } }
  - { zone: example.org, source: fw, target: cheap, interface: igb0, names: { a: ::1 } }`,
      [
        "9: `moor update` does not create records with the API dyndns2, so this one must exist",
        "10: the API namecheap cannot write IPv6 addresses",
      ],
    ],
    [
      "another setting",
      `${site}    ipv4: igb0\n    names: { a: ::1 }`,
      ['13: an entry in `hosts:` has no setting "ipv4"'],
    ],
  ])("reports %s", (_, hosts, expected) => {
    const found = read(hosts);
    expect(found).toHaveLength(expected.length);
    for (const [at, each] of expected.entries()) expect(found[at]).toContain(each);
  });

  it("is refused if it repeats a record of another entry", () => {
    const names = "names: [{ name: a, zone: example.org, source: fw, target: dns, ipv6: igb0 }]";
    expect(read(`${site}    names: { a: ::1, b: ::2 }\n${site}    names: { b: ::3 }`, names)).toEqual([
      "13: a.example.org AAAA is already in another entry",
      "18: b.example.org AAAA is already in another entry",
    ]);
  });
});
