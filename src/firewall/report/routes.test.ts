import { describe, expect, it } from "vitest";
import type { KernelRow } from "../../lib/kernel/row.ts";
import { arpRows, parseNeighbours, readArp } from "./neighbours.ts";
import { takeSnapshot } from "./report.ts";
import { gatewayRows, parseRoutes, readRoutes, routeRows } from "./routes.ts";

const device = (ifname: string, ifindex: number): KernelRow => ({
  ifindex,
  ifname,
  flags: ["UP", "LOWER_UP"],
  mtu: 1492,
  link_type: "ether",
  addr_info: [],
});
const config = {
  interfaces: [
    ["eth0", { hidden: false, description: "Line", identifier: "wan" }],
    ["veth*", { hidden: true }],
  ],
} as const;
const snapshot = takeSnapshot([device("eth0", 2), device("eth1", 3), device("veth0", 4)], config, 0);

describe("the routing table", () => {
  const rows = (family: "inet" | "inet6", ...routes: object[]) =>
    routeRows(parseRoutes(JSON.stringify(routes), family), snapshot, config);

  it.each<[string, "inet" | "inet6", object, object]>([
    [
      "the default",
      "inet",
      { dst: "default", gateway: "192.0.2.1", dev: "eth0", protocol: "dhcp", flags: [] },
      { destination: "default", gateway: "192.0.2.1", flags: "UGS", netif: "eth0", intf_description: "Line" },
    ],
    [
      "a network on a link",
      "inet",
      { dst: "198.51.100.0/24", dev: "eth1", protocol: "kernel", flags: [] },
      { proto: "ipv4", destination: "198.51.100.0/24", gateway: "link#3", flags: "U", intf_description: "ETH1" },
    ],
    ["a host", "inet", { dst: "192.0.2.9", dev: "eth0", protocol: "static", flags: [] }, { flags: "UHS" }],
    ["on a dead link", "inet", { dst: "192.0.2.0/24", dev: "eth0", flags: ["dead", "linkdown"] }, { flags: "S" }],
    [
      "through a router of the other family",
      "inet",
      { dst: "default", via: { family: "inet6", host: "fe80::1" }, dev: "eth0", flags: [] },
      { gateway: "fe80::1%eth0", flags: "UGS" },
    ],
    [
      "link-local",
      "inet6",
      { dst: "fe80::/64", dev: "eth0", protocol: "kernel", flags: [] },
      { proto: "ipv6", destination: "fe80::%eth0/64", gateway: "link#2", flags: "U", expire: "" },
    ],
    [
      "from a router advertisement",
      "inet6",
      { dst: "default", gateway: "fe80::1", dev: "eth0", protocol: "ra", expires: 1700, flags: [] },
      { gateway: "fe80::1%eth0", flags: "UGS", expire: "1700" },
    ],
  ])("%s", (_, family, route, expected) => {
    expect(rows(family, route)).toEqual([expect.objectContaining(expected)]);
  });

  it("has all columns as text, one row per gateway, and nothing of hidden devices", () => {
    const hops = [
      { gateway: "192.0.2.1", dev: "eth0" },
      { gateway: "198.51.100.1", dev: "eth1" },
      { gateway: "203.0.113.1", dev: "veth0" },
    ];
    const shown = rows("inet", { dst: "default", protocol: "static", nexthops: hops });
    expect(shown.map(({ netif }) => netif)).toEqual(["eth0", "eth1"]);
    expect(shown[0]).toEqual({
      proto: "ipv4",
      destination: "default",
      gateway: "192.0.2.1",
      flags: "UGS",
      "nhop#": "",
      mtu: "1492",
      netif: "eth0",
      expire: "",
      intf_description: "Line",
    });
  });
});

describe("the gateway page", () => {
  it("has the types that strict clients require, and one default per family", () => {
    const printed = [
      { dst: "default", gateway: "203.0.113.1", dev: "veth0" },
      { dst: "default", gateway: "192.0.2.1", dev: "eth0" },
      { dst: "default", dev: "eth1" },
    ];
    const routes = [
      ...parseRoutes(JSON.stringify(printed), "inet"),
      ...parseRoutes(JSON.stringify([{ dst: "default", gateway: "fe80::1", dev: "eth0" }]), "inet6"),
    ];
    const rows = gatewayRows(routes, snapshot.report, config);
    expect(rows.map(({ name, gateway, defaultgw }) => [name, gateway, defaultgw])).toEqual([
      ["ETH0_GW", "192.0.2.1", true],
      ["ETH1_GW", "", false],
      ["ETH0_GW6", "fe80::1", true],
    ]);
    const wanted = { boolean: /^(?:disabled|defaultgw|dynamic|virtual|upstream)$/, number: /^attribute$/, string: /./ };
    for (const [key, value] of rows.flatMap((row) => Object.entries(row))) {
      const type = wanted.boolean.test(key) ? "boolean" : wanted.number.test(key) ? "number" : "string";
      expect([key, typeof value]).toEqual([key, type]);
    }
    expect(rows[0]).toMatchObject({
      interface: "wan",
      if: "eth0",
      interface_descr: "Line",
      ipprotocol: "inet",
      status: "Online",
      loss: "~",
    });
  });
});

describe("the ARP table", () => {
  const printed = [
    { dst: "192.0.2.1", dev: "eth0", lladdr: "02:00:5e:10:00:01", state: ["STALE"] },
    { dst: "192.0.2.2", dev: "eth0", lladdr: "02:00:5e:10:00:02", state: ["PERMANENT"] },
    { dst: "192.0.2.3", dev: "eth0", state: ["FAILED"] },
    { dst: "192.0.2.4", dev: "veth0", lladdr: "02:00:5e:10:00:04", state: ["REACHABLE"] },
  ];

  it("has the neighbours that answered, on devices that are not hidden", () => {
    const rows = arpRows(parseNeighbours(JSON.stringify(printed)), snapshot, config);
    expect(rows).toEqual([
      {
        mac: "02:00:5e:10:00:01",
        ip: "192.0.2.1",
        intf: "eth0",
        expired: false,
        expires: -1,
        permanent: false,
        type: "ethernet",
        manufacturer: "",
        hostname: "",
        intf_description: "Line",
      },
      expect.objectContaining({ ip: "192.0.2.2", permanent: true }),
    ]);
  });

  it("may be empty", () => expect(parseNeighbours("")).toEqual([]));
  it("refuses anything but a list", () => expect(() => parseNeighbours("{}")).toThrow(/not a list/));
});

it("without `ip` tables are unknown, not empty", async () => {
  const nothing = { commands: ["/nonexistent/ip"] };
  await expect(readArp(nothing)).rejects.toThrow(/without `ip`/);
  await expect(readRoutes("all", nothing)).rejects.toThrow(/without `ip`/);
  expect(await readRoutes("default", nothing)).toEqual([]);
});
