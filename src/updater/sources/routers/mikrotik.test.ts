import { afterAll, beforeAll, expect, it, test } from "vitest";
import { type MikrotikPeer, startMikrotikPeer, wanInterface } from "../../../../test/rig/updater/sources/mikrotik.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import type { AddressSource } from "../source.ts";
import { mikrotik } from "./mikrotik.ts";

const never = new AbortController().signal;
let peer: MikrotikPeer;
let source: AddressSource;
const open = (url: string) =>
  mikrotik.open(
    { url: new URL(url), trust: { kind: "system" }, user: "moor", password: () => "thepassword" },
    createHttpClient,
  );
beforeAll(async () => {
  peer = await startMikrotikPeer();
  source = await open(peer.url);
});
afterAll(async () => {
  source.close();
  await peer.close();
});

async function read(lists: { readonly interfaces?: unknown; readonly ipv4?: unknown; readonly ipv6?: unknown }) {
  const { interfaces = [wanInterface], ipv4 = [], ipv6 = [] } = lists;
  Object.assign(peer.lists, { "/rest/interface": interfaces, "/rest/ip/address": ipv4, "/rest/ipv6/address": ipv6 });
  const reading = await source.read(never);
  if (reading.kind === "unavailable") return reading.because;
  const { unknown } = reading;
  return { ...Object.fromEntries(reading.report), ...(unknown ? { unknown } : {}) };
}

const v4 = {
  ".id": "*1",
  address: "9.9.9.9/24",
  network: "9.9.9.0",
  interface: "wan0",
  disabled: "false",
  dynamic: "true",
  invalid: "false",
};
const v6 = { ...v4, address: "2a00::9/64", "link-local": "false", advertise: "false", "from-pool": "" };

test.each<[string, Parameters<typeof read>[0], unknown]>([
  [
    "an address of each family",
    { ipv4: [v4], ipv6: [v6] },
    { wan0: { up: true, ipv4: [{ text: "9.9.9.9" }], ipv6: [{ text: "2a00::9", prefixLength: 64 }] } },
  ],
  ["a disabled address", { ipv4: [{ ...v4, disabled: "true" }] }, { wan0: { ipv4: [] } }],
  ["an address of an interface that is gone", { ipv4: [{ ...v4, invalid: "true" }] }, { wan0: { ipv4: [] } }],
  [
    "a static address after a dynamic one, in this order",
    { ipv4: [v4, { ...v4, address: "8.8.8.8/32", dynamic: "false" }] },
    { wan0: { ipv4: [{ text: "9.9.9.9" }, { text: "8.8.8.8" }] } },
  ],
  [
    "an older release without flags",
    { ipv4: [{ address: "9.9.9.9/24", interface: "wan0" }] },
    { wan0: { ipv4: [{ text: "9.9.9.9" }] } },
  ],
  [
    "a link-local address",
    { ipv6: [{ ...v6, address: "fe80::1/64", "link-local": "true" }] },
    { wan0: { ipv6: [{ text: "fe80::1", linkLocal: true }] } },
  ],
  ["a deprecated address", { ipv6: [{ ...v6, deprecated: "true" }] }, { wan0: { ipv6: [{ deprecated: true }] } }],
  ["an interface without an address", {}, { wan0: { device: "wan0", up: true, ipv4: [], ipv6: [] } }],
  ["an interface that does not run", { interfaces: [{ ...wanInterface, running: "false" }] }, { wan0: { up: false } }],
  ["an interface that is disabled", { interfaces: [{ ...wanInterface, disabled: "true" }] }, { wan0: { up: false } }],
  [
    "an address of an interface that is not listed",
    { interfaces: [], ipv4: [v4] },
    { wan0: { ipv4: [{ text: "9.9.9.9" }] } },
  ],
])("%s", async (_, lists, expected) => expect(await read(lists)).toMatchObject(expected as object));

test.each<[string, Parameters<typeof read>[0], RegExp]>([
  ["an interface without a name", { interfaces: [{ running: "true" }] }, /an interface has no name/],
])("%s is unreadable", async (_, lists, because) => expect(await read(lists)).toMatch(because));

const wrong: readonly [string, object, RegExp][] = [
  ["an address without a length", { address: "9.9.9.9" }, /no prefix length/],
  ["an address without an interface", { interface: "" }, /no interface/],
  ["a boolean instead of text", { disabled: false }, /address: an entry has a value that is not text/],
  ["an invalid flag", { invalid: "no" }, /address: invalid is neither true nor false/],
];
test.each(wrong)("%s makes its family unknown, and not the other one", async (_, change, because) => {
  const why = { because: expect.stringMatching(because) };
  expect(await read({ ipv4: [v4, { ...v4, ...change }], ipv6: [v6] })).toMatchObject({
    wan0: { ipv6: [{ text: "2a00::9" }] },
    unknown: { ipv4: why },
  });
  expect(await read({ ipv4: [v4], ipv6: [v6, { ...v6, ...change }] })).toMatchObject({
    wan0: { ipv4: [{ text: "9.9.9.9" }] },
    unknown: { ipv6: why },
  });
  const both = [{ ...v4, ...change }];
  expect(await read({ ipv4: both, ipv6: both })).toMatch(because);
});

it("a router without IPv6 has an IPv4 address", async () => {
  // The peer answers 404 for a list that it does not have.
  const reading = read({ ipv4: [v4], ipv6: [] });
  delete peer.lists["/rest/ipv6/address"];
  expect(await reading).toMatchObject({
    wan0: { ipv4: [{ text: "9.9.9.9" }] },
    unknown: { ipv6: { because: expect.stringMatching(/400/) } },
  });
});

it("the URL may end in /rest", async () => {
  await read({});
  const other = await open(`${peer.url}/rest/`);
  expect(await other.read(never)).toMatchObject({ kind: "report" });
  other.close();
});
