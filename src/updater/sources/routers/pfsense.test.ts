import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type PfsensePeer,
  pfsenseGateway,
  pfsenseWan,
  startPfsensePeer,
} from "../../../../test/rig/updater/sources/pfsense.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import type { AddressSource } from "../source.ts";
import { pfsense } from "./pfsense.ts";

let peer: PfsensePeer;
let source: AddressSource;
beforeAll(async () => {
  peer = await startPfsensePeer();
  const config = { url: new URL(peer.url), trust: { kind: "system" }, key: () => "thekey", gateways: true } as const;
  source = await pfsense.open(config, createHttpClient);
});
afterAll(async () => {
  source.close();
  await peer.close();
});

function readWhole(data: unknown) {
  peer.data = data;
  return source.read(new AbortController().signal);
}

async function read(data: unknown) {
  const reading = await readWhole(data);
  return reading.kind === "report" ? Object.fromEntries(reading.report) : reading.because;
}

const none = { device: "wan0", ipv4: [], ipv6: [] };

test.each<[string, object, object]>([
  [
    "both families",
    { ipaddr: "9.9.9.9", ipaddrv6: "2a00::9", subnetv6: "64" },
    { ipv4: [{ text: "9.9.9.9" }], ipv6: [{ text: "2a00::9", prefixLength: 64 }] },
  ],
  ["a length as a number", { ipaddrv6: "2a00::9", subnetv6: 56 }, { ipv6: [{ text: "2a00::9", prefixLength: 56 }] }],
  ["no address, as empty texts", {}, { ...none, up: true }],
  ["no address, as null", { ipaddr: null, ipaddrv6: null, subnetv6: null }, { ...none, up: true }],
  ["an interface without a cable", { status: "no carrier" }, { up: false }],
  ["a disabled interface", { enable: false }, { up: false }],
  ["an interface on a wireless network", { status: "associated" }, { up: true }],
])("%s", async (_, more, expected) =>
  expect(await read([{ ...pfsenseWan, ...more }])).toMatchObject({ wan0: expected }),
);

test.each<[string, unknown, RegExp]>([
  ["no list", "x", /no list of interfaces/],
  ["an entry that is text", ["x"], /an interface is not an object/],
  ["an interface without a name", [{ ...pfsenseWan, name: "" }], /has no name/],
  ["a number for an address", [{ ...pfsenseWan, ipaddrv6: 7 }], /wan0: an address is not text/],
])("%s is unreadable", async (_, data, because) => expect(await read(data)).toMatch(because));

const online = { ...pfsenseWan, ipaddr: "9.9.9.9", ipaddrv6: "2a00::9", subnetv6: "64" };
const second = { ...pfsenseWan, name: "opt1", ipaddr: "8.8.8.8", linklocal: "fe80::8%igb1" };

test.each<[string, object, object]>([
  ["a gateway that answers", {}, { wan0: [], opt1: [] }],
  ["one with a warning", { substatus: "highdelay" }, { wan0: [], opt1: [] }],
  ["one that is down", { status: "down", substatus: "highloss" }, { wan0: ["ipv4"], opt1: [] }],
  ["one that was forced down", { status: "down", substatus: "force_down" }, { wan0: ["ipv4"], opt1: [] }],
  ["one of IPv6", { srcip: "2a00::9", status: "down" }, { wan0: ["ipv6"], opt1: [] }],
  ["one asked from a link-local address", { srcip: "fe80::8%igb1", status: "down" }, { wan0: [], opt1: ["ipv6"] }],
  ["one of no interface in the list", { srcip: "7.7.7.7", status: "down" }, { wan0: [], opt1: [] }],
  ["one that is not probed", { srcip: null, monitorip: null, status: "down" }, { wan0: [], opt1: [] }],
])("the line of %s", async (_, more, dead) => {
  peer.gateways = [{ ...pfsenseGateway, ...more }];
  const report = await read([online, second]);
  expect(report).toMatchObject(
    Object.fromEntries(Object.entries(dead).map(([device, deadGateways]) => [device, { deadGateways }])),
  );
});

test("gateways that cannot be read leave the last known state, so that a name does not return to a dead line", async () => {
  peer.gateways = [{ ...pfsenseGateway, status: "down" }];
  await read([online]);
  peer.gateways = "x";
  expect(await readWhole([online])).toMatchObject({
    gatewayFault: { because: expect.stringMatching(/no list of gateways/) },
  });
  peer.gateways = undefined;
  expect(await readWhole([online])).toMatchObject({ gatewayFault: { because: expect.stringMatching(/no REST API/) } });
  expect(await read([online])).toMatchObject({ wan0: { deadGateways: ["ipv4"] } });
});
