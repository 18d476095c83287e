import { describe, expect, it } from "vitest";
import type { KernelAddress, KernelRow } from "../../lib/kernel/row.ts";
import { noConfig } from "../config.ts";
import { statisticsOf } from "./counters.ts";
import { overviewOf } from "./overview.ts";
import { takeSnapshot } from "./report.ts";
import { gatewayItems, parseRoutes } from "./routes.ts";

const forever = 0xffffffff;
const inet = (local: string, valid_life_time = forever): KernelAddress => ({
  family: "inet",
  local,
  prefixlen: 24,
  valid_life_time,
  preferred_life_time: valid_life_time,
});
const inet6 = (local: string, valid = forever, more: Partial<KernelAddress> = {}): KernelAddress => ({
  family: "inet6",
  local,
  prefixlen: 64,
  valid_life_time: valid,
  preferred_life_time: valid,
  ...more,
});
const device = (ifname: string, more: Partial<KernelRow> = {}): KernelRow => ({
  ifindex: 2,
  ifname,
  flags: ["UP", "LOWER_UP"],
  mtu: 1500,
  link_type: "ether",
  addr_info: [],
  ...more,
});
const machineAddress = "02:00:5e:10:00:ff";
const config = { interfaces: [["ppp0", { hidden: false, description: "Line", identifier: "wan" }]] } as const;
const row = (one: KernelRow) =>
  overviewOf(takeSnapshot([one], config, 0), config, { statistics: false, routes: [], machineAddress })[0];

const options = { statistics: false, routes: [], machineAddress };
const lo = device("lo", { ifindex: 1, link_type: "loopback", flags: ["LOOPBACK", "UP", "LOWER_UP"] });
const virtual = (ifname: string, info_kind: string) => device(ifname, { linkinfo: { info_kind } });

describe("overviewOf", () => {
  it("adds the administrator's settings, and writes addresses with their prefix", () => {
    const addr_info = [inet("203.0.113.7"), inet6("2001:db8::1"), inet6("fe80::1")];
    const shown = row(device("ppp0", { link_type: "ppp", addr_info }));
    expect(shown).toMatchObject({
      device: "ppp0",
      identifier: "wan",
      description: "Line",
      enabled: true,
      link_type: "pppoe",
      status: "up",
      addr4: "203.0.113.7/24",
      addr6: "2001:db8::1/64",
      vlan_tag: null,
      ipv4: [{ ipaddr: "203.0.113.7/24" }],
      ipv6: [{ ipaddr: "2001:db8::1/64" }, { ipaddr: "fe80::1/64" }],
    });
  });

  it("leaves out the key of a family without addresses", () => {
    const shown = row(device("eth0", { addr_info: [inet("192.0.2.1")] }));
    expect(shown).not.toHaveProperty("ipv6");
    expect(shown).toMatchObject({ addr6: "" });
    expect(row(device("eth0"))).not.toHaveProperty("ipv4");
  });

  it.each<[string, Partial<KernelRow>, object]>([
    ["up", {}, { status: "up", enabled: true, link_type: "none" }],
    ["without carrier", { flags: ["UP", "NO-CARRIER"] }, { status: "no carrier", enabled: true }],
    ["down", { flags: [] }, { status: "down", enabled: false }],
    ["by DHCP", { addr_info: [inet("192.0.2.1", 3600)] }, { link_type: "dhcp" }],
    ["by hand", { addr_info: [inet("192.0.2.1")] }, { link_type: "static" }],
    ["a VLAN", { linkinfo: { info_kind: "vlan", info_data: { id: 7 } } }, { vlan_tag: "7" }],
  ])("%s", (_, more, expected) => {
    expect(row(device("eth0", more))).toMatchObject(expected);
  });

  it.each<[string, readonly KernelRow[], readonly string[]]>([
    [
      "a card",
      [lo, device("eth0", { address: "02:00:5e:10:00:01" }), virtual("br0", "bridge")],
      ["eth0 02:00:5e:10:00:01"],
    ],
    ["virtual cards only", [lo, virtual("br0", "bridge"), virtual("mv0", "macvlan")], [`br0 ${machineAddress}`]],
    ["a tunnel only", [lo, device("wg0", { link_type: "none", ifindex: 3 })], [`wg0 ${machineAddress}`]],
    ["loopback only", [lo], [`lo ${machineAddress}`]],
    ["devices whose kind is unknown", [lo, { ...device("eth0"), link_type: undefined as never }], []],
    ["no device", [], []],
  ])("a machine with %s is identified by one address", (_, rows, cards) => {
    const shown = overviewOf(takeSnapshot(rows, noConfig, 0), noConfig, options);
    const physical = shown.filter(({ is_physical }) => is_physical === true);
    expect(physical.map((each) => `${String(each.device)} ${String(each.macaddr_hw)}`)).toEqual(cards);
  });

  it.each<[string, readonly KernelAddress[], string]>([
    ["the longest-lived", [inet6("2001:db8:a::1", 60), inet6("2001:db8:b::1", 600)], "2001:db8:b::1/64"],
    ["global before local", [inet6("fd00::1"), inet6("2001:db8::1")], "2001:db8::1/64"],
    ["local when there is nothing else", [inet6("fd00::1"), inet6("fe80::1")], "fd00::1/64"],
    [
      "not a deprecated one",
      [inet6("2001:db8:a::1", 60, { deprecated: true }), inet6("2001:db8:b::1")],
      "2001:db8:b::1/64",
    ],
    ["not a tentative one", [inet6("2001:db8::1", forever, { tentative: true })], ""],
    ["the first without a lifetime", [inet6("2001:db8:a::1"), inet6("2001:db8:b::1", 600)], "2001:db8:a::1/64"],
  ])("the primary IPv6 address is %s", (_, addr_info, addr6) => {
    expect(row(device("eth0", { addr_info }))).toMatchObject({ addr6 });
  });

  it("adds counters as text on request", () => {
    const stats64 = { rx: { bytes: 12, packets: 3 }, tx: { bytes: 9007199254740991 } };
    const snapshot = takeSnapshot([device("eth0", { stats64 })], noConfig, 0);
    const [shown] = overviewOf(snapshot, noConfig, { statistics: true, routes: [], machineAddress });
    expect(shown?.statistics).toMatchObject({
      "bytes received": "12",
      "packets received": "3",
      "bytes transmitted": "9007199254740991",
      collisions: "0",
    });
  });
});

it("lists the gateways of each device, and none if a line has no address at its other end", () => {
  const destination = "default";
  const routes = [
    { family: "inet", destination, dev: "eth0", gateway: "192.0.2.9", flags: [] },
    { family: "inet6", destination, dev: "eth0", gateway: "fe80::9", flags: [] },
    { family: "inet", destination, dev: "ppp0", flags: [] },
  ] as const;
  const snapshot = takeSnapshot([device("eth0"), device("ppp0"), device("eth1")], noConfig, 0);
  const rows = overviewOf(snapshot, noConfig, { statistics: false, routes, machineAddress });
  expect(rows.map(({ gateways }) => gateways)).toEqual([["192.0.2.9", "fe80::9"], [], []]);
});

describe("statisticsOf", () => {
  it("has one entry for the device and one for each address", () => {
    const stats64 = { rx: { bytes: 12 }, tx: { packets: 3 } };
    const ppp = device("ppp0", { link_type: "ppp", addr_info: [inet("203.0.113.7")], stats64 });
    const entries = Object.fromEntries(statisticsOf(takeSnapshot([ppp], config, 0), config));
    expect(Object.keys(entries)).toEqual(["[Line] (ppp0) / 00:00:00:00:00:00", "[Line] (ppp0) / 203.0.113.7"]);
    expect(entries["[Line] (ppp0) / 203.0.113.7"]).toMatchObject({
      name: "ppp0",
      network: "203.0.113.7/24",
      address: "203.0.113.7",
      "received-bytes": 12,
      "sent-packets": 3,
    });
  });

  it("writes the flags as netstat does, in bits", () => {
    const card = device("eth0", { flags: ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"] });
    expect([...statisticsOf(takeSnapshot([card], noConfig, 0), noConfig).values()]).toMatchObject([
      { flags: "0x8043" },
    ]);
  });
});

describe("gateways", () => {
  const report = (flags: readonly string[]) => takeSnapshot([device("eth0", { flags })], noConfig, 0).report;
  const via = { family: "inet", destination: "default", dev: "eth0", gateway: "192.0.2.9", flags: [] } as const;

  it.each([
    ["up", ["UP", "LOWER_UP"], [], "none", "Online"],
    ["on a link without carrier", ["UP", "NO-CARRIER"], [], "down", "Offline"],
    ["that the kernel calls dead", ["UP"], ["dead"], "down", "Offline"],
  ])("a gateway %s", (_, flags, routeFlags, status, status_translated) => {
    expect(gatewayItems([{ ...via, flags: routeFlags }], report(flags))).toEqual([
      {
        name: "ETH0_GW",
        address: "192.0.2.9",
        status,
        loss: "~",
        delay: "~",
        stddev: "~",
        monitor: "~",
        status_translated,
      },
    ]);
  });

  it("have different names if a device has several, and those of hidden devices are left out", () => {
    const routes = [
      via,
      { ...via, gateway: "192.0.2.8" },
      { ...via, family: "inet6" },
      { ...via, dev: "veth0" },
    ] as const;
    expect(gatewayItems(routes, report(["UP"])).map(({ name }) => name)).toEqual(["ETH0_GW", "ETH0_GW_2", "ETH0_GW6"]);
  });

  it.each<[string, string, object[]]>([
    ["none", "", []],
    ["an empty list", "[]", []],
    ["one", '[{"dst":"default","gateway":"192.0.2.9","dev":"eth0","flags":[]}]', [via]],
    [
      "on a point-to-point link",
      '[{"dst":"default","dev":"ppp0"}]',
      [{ family: "inet", destination: "default", dev: "ppp0", flags: [] }],
    ],
    [
      "with two next hops",
      '[{"dst":"default","nexthops":[{"gateway":"192.0.2.9","dev":"eth0","flags":[]},{"dev":"b","flags":["dead"]}]}]',
      [via, { family: "inet", destination: "default", dev: "b", flags: ["dead"] }],
    ],
    ["without a device", '[{"type":"unreachable","dst":"default"}]', []],
  ])("parses %s", (_, printed, routes) => {
    expect(parseRoutes(printed, "inet")).toEqual(routes);
  });

  it("refuses anything but a list", () => {
    expect(() => parseRoutes("{}", "inet")).toThrow(/not a list/);
  });
});
