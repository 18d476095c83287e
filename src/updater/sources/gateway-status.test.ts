import { describe, expect, it, test } from "vitest";
import { carpRole } from "../../core/addresses/carp-role.ts";
import { chooseInOrder } from "../../core/addresses/choose-in-order.ts";
import { GatewayMemory, joined, linesIn, readGatewayRows, readGatewayStatus } from "./gateway-status.ts";
import { readInterfaceReport } from "./read-interface-report.ts";
import { readOverview } from "./read-overview.ts";

/**
 * The keys are those of our notes on OPNsense, and of what `moor firewall` serves; not recorded from a real OPNsense.
 */
const up = { flags: ["up", "running"] };
const interfaces = JSON.stringify({
  igb0: {
    ...up,
    ipv4: [{ ipaddr: "198.51.100.7", subnetbits: 24 }],
    ipv6: [{ ipaddr: "2001:db8:1::7", subnetbits: 64, "link-local": false }],
  },
  pppoe1: { ...up, ipv4: [{ ipaddr: "203.0.113.7", subnetbits: 32, endpoint: "203.0.113.1" }], ipv6: [] },
});
const item = (address: string, status: string) => ({
  name: "GW",
  address,
  status,
  loss: "~",
  delay: "~",
  stddev: "~",
  monitor: "~",
  status_translated: "",
});
const statusOf = (...items: object[]) => JSON.stringify({ items, status: "ok" });

type Asked = { readonly family?: "ipv4" | "ipv6"; readonly body?: string; readonly read?: typeof readInterfaceReport };

/** The interface that is taken, why others were not, and the gateways that belong to no line or to several. */
function chosen(status: string, { family = "ipv4", body = interfaces, read = readInterfaceReport }: Asked = {}) {
  const found = read(body);
  const gateways = readGatewayStatus(status);
  if (found.kind !== "report" || !gateways) throw new Error("unreadable");
  const reading = new GatewayMemory().noted(found.report, gateways, linesIn(body));
  if (reading.kind !== "report") throw new Error("unreadable");
  const candidates = ["igb0", "pppoe1"].map((name) => ({ device: name, report: reading.report }));
  const { device, passedOver } = chooseInOrder(candidates, { family });
  return [device, ...passedOver.map(({ because }) => because), ...(reading.gatewayFault ? ["unclear"] : [])];
}

const works = item("203.0.113.1", "none");

test.each<[string, string, readonly string[]]>([
  ["all work", statusOf(item("198.51.100.1", "none"), works), ["igb0"]],
  ["the first is down", statusOf(item("198.51.100.1", "down"), works), ["pppoe1", "gateway-down"]],
  ["the first is forced down", statusOf(item("198.51.100.1", "force_down"), works), ["pppoe1", "gateway-down"]],
  ["the first loses packets", statusOf(item("198.51.100.1", "loss"), works), ["igb0"]],
  ["one of its two works", statusOf(item("198.51.100.1", "down"), item("198.51.100.2", "none")), ["igb0"]],
  ["a gateway without an address", statusOf(item("~", "down"), works), ["igb0", "unclear"]],
  ["a gateway without an address, not down", statusOf(item("~", "none"), works), ["igb0"]],
  ["a gateway of another network", statusOf(item("192.0.2.1", "down"), works), ["igb0", "unclear"]],
])("%s", (_, status, expected) => expect(chosen(status)).toEqual(expected));

it("counts for each family alone", () => {
  expect(chosen(statusOf(item("198.51.100.1", "down")), { family: "ipv6" })).toEqual(["igb0"]);
  expect(chosen(statusOf(item("fe80::1%igb0", "down")), { family: "ipv4" })).toEqual(["igb0"]);
  expect(chosen(statusOf(item("fe80::1%igb0", "down")), { family: "ipv6" })[1]).toBe("gateway-down");
});

it.each([
  "",
  "{}",
  "[]",
  '{"items": {}}',
  '{"items": [{"address": "192.0.2.1"}]}',
  '{"items": [], "status": "failed"}',
])("%j is not a state", (body) => expect(readGatewayStatus(body)).toBeUndefined());

describe("whose gateway it is", () => {
  const line = (ipaddr: string, subnetbits: number, more = {}) => ({
    ...up,
    ipv4: [{ ipaddr, subnetbits, ...more }],
    ipv6: [],
  });
  const report = (lines: object) => JSON.stringify(lines);

  test.each<[string, object, string, readonly string[]]>([
    [
      "a LAN with a larger network is listed first",
      { lan: line("10.0.0.1", 8), igb0: line("10.1.2.7", 24), pppoe1: line("203.0.113.7", 32) },
      "10.1.2.1",
      ["pppoe1", "gateway-down"],
    ],
    [
      "the end of a tunnel is in the network of another line",
      { pppoe1: line("198.51.100.9", 24), igb0: line("192.0.2.7", 32, { endpoint: "198.51.100.1" }) },
      "198.51.100.1",
      ["pppoe1", "gateway-down"],
    ],
    [
      "two lines are in one network",
      { igb0: line("198.51.100.7", 24), pppoe1: line("198.51.100.8", 24) },
      "198.51.100.1",
      ["igb0", "unclear"],
    ],
    [
      "two lines have the same gateway",
      {
        igb0: line("192.0.2.7", 32, { endpoint: "192.0.2.1" }),
        pppoe1: line("192.0.2.8", 32, { endpoint: "192.0.2.1" }),
      },
      "192.0.2.1",
      ["igb0", "unclear"],
    ],
  ])("%s", (_, lines, gateway, expected) =>
    expect(chosen(statusOf(item(gateway, "down")), { body: report(lines) })).toEqual(expected),
  );

  it("is what the firewall says, if it does: its address counts no more", () => {
    const two = [
      { ...item("192.0.2.1", "down"), name: "WAN" },
      { ...item("192.0.2.1", "none"), name: "WAN2" },
      { ...item("~", "down"), name: "WAN6" },
    ];
    const rows = {
      rows: [
        { name: "WAN2", if: "pppoe1", ipprotocol: "inet", gateway: "192.0.2.1" },
        { name: "WAN", if: "igb0", ipprotocol: "inet", gateway: "192.0.2.1" },
        { name: "WAN6", if: "igb0", ipprotocol: "inet6", gateway: "" },
      ],
    };
    const states = joined(readGatewayStatus(statusOf(...two)) ?? [], readGatewayRows(JSON.stringify(rows)) ?? []);
    expect(states.map(({ device, family, isDown }) => [device, family, isDown])).toEqual([
      ["igb0", "ipv4", true],
      ["pppoe1", "ipv4", false],
      ["igb0", "ipv6", true],
    ]);
  });
});

const row = { device: "igb0", identifier: "wan", enabled: true, status: "up", addr4: "198.51.100.7/24", flags: ["up"] };
const overview = JSON.stringify([
  {
    ...row,
    gateways: ["198.51.100.1"],
    addr6: "2001:db8:1::7/64",
    ipv4: [{ ipaddr: "198.51.100.7/24" }],
    ipv6: [{ ipaddr: "fe80::1/64" }, { ipaddr: "2001:db8:1::9/64" }, { ipaddr: "2001:db8:1::7/64" }],
  },
  { ...row, device: "pppoe1", gateways: ["203.0.113.1"], addr6: "", ipv4: [{ ipaddr: "203.0.113.7/32" }] },
  { device: "", identifier: "opt9" },
]);

it("works with the overview", () => {
  const status = statusOf(item("198.51.100.1", "down"), works);
  expect(chosen(status, { body: overview, read: readOverview })).toEqual(["pppoe1", "gateway-down"]);
});

it("reads the overview: all IPv4 addresses, and of the IPv6 addresses those that are known to be usable", () => {
  const read = readOverview(overview);
  const igb0 = read.kind === "report" ? read.report.get("igb0") : undefined;
  expect(igb0).toMatchObject({ up: true, ipv4: [{ text: "198.51.100.7" }] });
  expect(igb0?.ipv6.map(({ text, linkLocal, prefixLength }) => [text, linkLocal, prefixLength])).toEqual([
    ["fe80::1", true, 64],
    ["2001:db8:1::7", false, 64],
  ]);
  const flagged = JSON.stringify([
    { ...row, addr6: "", ipv6: [{ ipaddr: "2001:db8::9/64", deprecated: true, tentative: false }] },
  ]);
  const other = readOverview(flagged);
  expect(other.kind === "report" && other.report.get("igb0")?.ipv6).toMatchObject([{ deprecated: true }]);
});

it.each<[string, object]>([
  ["down", { status: "down" }],
  ["without a cable", { status: "no carrier" }],
  ["disabled", { enabled: false }],
])("an interface that is %s is down", (_, more) => {
  const read = readOverview(JSON.stringify([{ ...row, ...more }]));
  expect(read.kind === "report" && read.report.get("igb0")?.up).toBe(false);
});

it("reads the CARP roles of the overview", () => {
  const carp = { 1: { vhid: "1", status: "MASTER", advbase: "1", advskew: "0" } };
  const read = readOverview(
    JSON.stringify([
      { ...row, carp },
      { ...row, device: "igb1", carp: [] },
    ]),
  );
  expect(read.kind === "report" && carpRole(read.report, "1")).toBe("master");
});

const badCarp = '[{"device": "a", "carp": {"1": {}}}]';

it.each(["{}", "<html>", '[{"device": "a", "ipv4": {}}]', '[{"device": "a", "ipv4": [{}]}]', "[1]", badCarp])(
  "%s is not an overview",
  (body) => expect(readOverview(body).kind).toBe("unreadable"),
);
