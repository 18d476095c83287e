import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../read-config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-config-"));
  writeFileSync(join(folder, "key"), "key=thekey\nsecret=thesecret\n", { mode: 0o600 });
  writeFileSync(join(folder, "token"), "thetoken", { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

const firewall = "{ url: 'https://192.0.2.1', keyFile: key }";
const script = "{ kind: command, command: [./address, -6] }";

function read(sources: string, name: string) {
  const text = `sources: { ${sources} }
targets: { dns: { url: 'https://dns.test', token: { file: token } } }
names: [{ name: home, zone: example.org, ${name} }]
`;
  writeFileSync(join(folder, "moor.yaml"), text);
  const config = readConfig("moor.yaml", {}, folder);
  if (config.ok) return config.value;
  return config.faults.map(({ where, message, todo }) => `${where}: ${message}; ${todo}`).join("\n");
}

function families(sources: string, name: string) {
  const config = read(sources, name);
  return typeof config === "string" ? config : [...(config.names[0]?.families ?? [])];
}

describe("a source", () => {
  it("of kind opnsense is a firewall", () => {
    expect(read("fw: { kind: opnsense, url: 'https://192.0.2.1', keyFile: key }", "ipv4: wan0")).toMatchObject({
      sources: new Map([["fw", expect.objectContaining({ kind: "opnsense", trust: { kind: "system" } })]]),
    });
  });

  it("that knows only one connection needs no device", () => {
    const expected = (family: string) => [family, expect.objectContaining({ source: "a", devices: ["internet"] })];
    expect(families(`a: ${script}`, "ipv4: true, ipv6: { host: '::1' }")).toEqual([expected("ipv4"), expected("ipv6")]);
    expect(families(`a: ${script}`, "ipv4: internet")).toEqual([expected("ipv4")]);
    expect(families(`a: ${script}, fw: ${firewall}`, "ipv4: { source: a }, ipv6: wan0, source: fw")).toMatchObject([
      expected("ipv4"),
      ["ipv6", { source: "fw", devices: ["wan0"] }],
    ]);
  });

  it("may be one of several, in order or by agreement; the devices of a name apply to sources that know several", () => {
    const sources = `a: ${script}, b: ${script}, fw: ${firewall}`;
    expect(families(sources, "source: [fw, a], ipv4: wan0, ipv6: { source: { agree: [b, a] } }")).toEqual([
      ["ipv4", { source: "fw", devices: ["wan0"], others: [{ source: "a", devices: ["internet"] }] }],
      ["ipv6", { source: "b", devices: ["internet"], others: [{ source: "a", devices: ["internet"] }], agree: 2 }],
    ]);
    expect(families(sources, "source: [a], ipv4: true")).toEqual([["ipv4", { source: "a", devices: ["internet"] }]]);
  });

  it("that is a FRITZ!Box needs no settings", () => {
    expect(read("a: { kind: fritzbox }", "ipv4: true")).toMatchObject({
      sources: new Map([["a", expect.objectContaining({ url: new URL("http://fritz.box:49000"), timeout: 5_000 })]]),
    });
  });

  it("may be one of several although it knows only one family; it is used for that family only", () => {
    const sources = `router: { kind: igd }, a: ${script}, b: ${script}`;
    expect(families(sources, "source: [router, a], ipv4: true, ipv6: true")).toEqual([
      ["ipv4", { source: "router", devices: ["internet"], others: [{ source: "a", devices: ["internet"] }] }],
      ["ipv6", { source: "a", devices: ["internet"] }],
    ]);
    expect(families(sources, "source: { agree: [router, a, b] }, ipv6: true")).toMatchObject([
      ["ipv6", { source: "a", others: [{ source: "b" }], agree: 2 }],
    ]);
    expect(families(sources, "source: { agree: [router, a] }, ipv6: true")).toMatch(/igd does not know IPv6 addresses/);
  });

  it("that is a program is found in the config's folder", () => {
    expect(read(`a: ${script}`, "ipv4: true")).toMatchObject({
      sources: new Map([
        ["a", expect.objectContaining({ command: { file: join(folder, "address"), args: ["-6"], folder } })],
      ]),
    });
  });

  it.each([
    [
      "no device, though it knows several",
      `fw: ${firewall}`,
      "ipv4: true",
      /moor\.yaml:3:48: ipv4 has no interface; add `interface/,
    ],
    [
      "no device, though it knows several, in a mapping",
      `fw: ${firewall}`,
      "ipv4: { vhid: 3 }",
      /ipv4 has no interface; add `interface/,
    ],
    ["a family that is false", `fw: ${firewall}`, "ipv4: false", /ipv4 is false; leave it out/],
    [
      "a device, though it knows only one connection",
      `a: ${script}`,
      "ipv4: wan0",
      /the device wan0, but a source of kind command knows only one connection; write `ipv4: true`/,
    ],
    ["an empty program", "a: { kind: command, command: [] }", "ipv4: true", /a is an empty list; give a program/],
    [
      "no device for the second source",
      `a: ${script}, fw: ${firewall}`,
      "source: [a, fw], ipv4: true",
      /ipv4 has no interface/,
    ],
    [
      "an empty list of sources",
      `a: ${script}`,
      "source: [], ipv4: true",
      /source is an empty list; name at least one source/,
    ],
    [
      "one host with two ports",
      "a: { kind: web, services: ['https://ip.test', 'https://IP.test:8443/ip'] }",
      "ipv4: true",
      /ip\.test is listed twice, so it would agree with itself/,
    ],
    [
      "one nameserver with two ports",
      "a: { kind: dns, questions: [{ server: 9.9.9.9, name: a.test }, { server: '9.9.9.9:5353', name: b.test }] }",
      "ipv4: true",
      /9\.9\.9\.9 is listed twice, so it would agree with itself/,
    ],
    ["one source twice", `a: ${script}`, "source: [a, a], ipv4: true", /the source a is listed twice; list it once/],
    ["nothing to agree with", `a: ${script}`, "source: { agree: [a] }, ipv4: true", /2 sources must agree, but only 1/],
    [
      "an unknown source among several",
      `a: ${script}`,
      "source: [a, b], ipv4: true",
      /there is no source "b"; the sources are a/,
    ],
    [
      "a family that it does not know",
      "a: { kind: igd }",
      "ipv6: true",
      /a source of kind igd does not know IPv6 addresses; name another source for ipv6, or leave out `ipv6:`/,
    ],
    [
      "two settings for the router",
      "a: { kind: igd, gateway: 192.0.2.1, url: 'http://192.0.2.1/' }",
      "ipv4: true",
      /source a has url and gateway; keep one/,
    ],
    ["a router by name", "a: { kind: igd, gateway: router.lan }", "ipv4: true", /gateway of source a is not an IPv4/],
    ["a router by https", "a: { kind: fritzbox, url: 'https://fritz.box' }", "ipv4: true", /is not an http:\/\/ URL/],
    [
      "a password over plain HTTP",
      "a: { kind: openwrt, url: 'http://192.0.2.1', password: { file: token } }",
      "ipv4: wan",
      /would send its secret unencrypted/,
    ],
    [
      "no user",
      "a: { kind: mikrotik, url: 'https://192.0.2.1', password: { file: token } }",
      "ipv4: wan",
      /a has no user/,
    ],
    ["an unknown kind, once", "a: { kind: comand }", "ipv4: true", /^moor\.yaml:1:23: kind of source a cannot be/],
  ])("is refused with %s", (_, sources, name, expected) => {
    const faults = read(sources, name);
    expect(faults).toMatch(expected);
    expect(faults).not.toMatch("\n");
  });
});
