import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { until } from "../../../../test/rig/until.ts";
import {
  deniedByUbus,
  deniedByUhttpd,
  type OpenwrtPeer,
  startOpenwrtPeer,
  wan,
} from "../../../../test/rig/updater/sources/openwrt.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import type { AddressSource } from "../source.ts";
import { openwrt } from "./openwrt.ts";
import { readInterfaceDump } from "./openwrt-dump.ts";

const never = new AbortController().signal;
let peer: OpenwrtPeer;
let source: AddressSource;
beforeAll(async () => {
  peer = await startOpenwrtPeer();
});
afterAll(() => peer.close());

const open = (password = "thepassword", url = peer.url) =>
  openwrt.open(
    { url: new URL(url), trust: { kind: "system" }, user: "moor", password: () => password },
    createHttpClient,
  );

beforeEach(async () => {
  peer.asked.length = 0;
  peer.sessions.clear();
  peer.mayDump = true;
  peer.dump = { interface: [wan({ ipv4: ["9.9.9.9"], ipv6: [] })] };
  source?.close();
  source = await open();
});
afterAll(() => source.close());

/** The methods that were called since the last time. The source of the test before may still be logging out. */
const called = () =>
  peer.asked
    .splice(0)
    .map(({ body }) => (JSON.parse(body) as { params: string[] }).params[2])
    .filter((method) => method !== "destroy");

describe("the session", () => {
  it("is opened once", async () => {
    expect(await source.read(never)).toMatchObject({ kind: "report" });
    expect(await source.read(never)).toMatchObject({ kind: "report" });
    expect(called()).toEqual(["login", "dump", "dump"]);
  });

  test.each([
    ["uhttpd", deniedByUhttpd],
    ["the object", deniedByUbus],
  ])("is opened again when it has expired, as reported by %s", async (_, denial) => {
    peer.denial = denial;
    await source.read(never);
    peer.sessions.clear();
    called();
    expect(await source.read(never)).toMatchObject({ kind: "report" });
    expect(called()).toEqual(["dump", "login", "dump"]);
  });

  it("ends when the source is closed, if one was opened", async () => {
    await source.read(never);
    const [session] = peer.sessions;
    source.close();
    await until(() => !peer.sessions.has(session ?? ""));
    expect(peer.asked.at(-1)?.body).toContain(`"${session}","session","destroy"`);
  });

  it("is opened once per read for a user without the permission", async () => {
    peer.mayDump = false;
    const reading = await source.read(never);
    expect(reading).toMatchObject({ because: "the user moor may not read the interfaces of the OpenWrt router" });
    expect(called()).toEqual(["login", "dump"]);
    await source.read(never);
    expect(called()).toEqual(["login", "dump"]);
  });

  it("is opened again once if its user has lost the permission meanwhile", async () => {
    await source.read(never);
    peer.mayDump = false;
    called();
    expect(await source.read(never)).toMatchObject({ kind: "unavailable" });
    expect(called()).toEqual(["dump", "login", "dump"]);
  });

  it("is not opened with a wrong password, and the message does not contain it", async () => {
    const other = await open("wrongpassword");
    const reading = await other.read(never);
    other.close();
    expect(reading).toMatchObject({ because: "the OpenWrt router rejected the user moor or the password" });
    expect(JSON.stringify(reading)).not.toContain("wrongpassword");
    expect(called()).toEqual(["login"]);
  });
});

it("the URL may end in /ubus", async () => {
  const other = await open(undefined, `${peer.url}/ubus`);
  expect(await other.read(never)).toMatchObject({ kind: "report" });
  other.close();
});

describe("a dump", () => {
  const entry = { address: "2001:db8::1", mask: 64 };
  const read = (more: object) => {
    const dumped = readInterfaceDump({ interface: [{ interface: "wan6", up: true, ...more }] });
    return dumped.kind === "report" ? dumped.report.get("wan6") : dumped.because;
  };
  const usual = { linkLocal: false, tentative: false, detached: false };

  test.each<[string, object, unknown]>([
    ["an interface that is down", { up: false }, { device: "wan6", up: false, ipv4: [], ipv6: [] }],
    [
      "lifetimes",
      { "ipv6-address": [{ ...entry, preferred: 10, valid: 20 }] },
      { ipv6: [{ ...usual, deprecated: false, validLifetime: 20, prefixLength: 64 }] },
    ],
    [
      "an address that is no longer preferred",
      { "ipv6-address": [{ ...entry, preferred: 0, valid: 20 }] },
      { ipv6: [{ deprecated: true }] },
    ],
    ["a static address", { "ipv6-address": [entry] }, { ipv6: [{ text: "2001:db8::1", deprecated: false }] }],
    [
      "a delegated prefix",
      { "ipv6-prefix": [{ address: "2001:db8:1::", mask: 56, preferred: 5, valid: 9, class: "wan6", assigned: {} }] },
      { ipv6: [{ text: "2001:db8:1::", prefixLength: 56, validLifetime: 9, delegated: true }] },
    ],
    [
      "its own address in a network from that prefix",
      {
        "ipv6-prefix-assignment": [
          { address: "2001:db8:1::", mask: 60, "local-address": { address: "2001:db8:1::1", mask: 60 } },
        ],
      },
      { ipv6: [{ text: "2001:db8:1::1", prefixLength: 60 }] },
    ],
    [
      "a network from that prefix without its own address",
      { "ipv6-prefix-assignment": [{ address: "2001:db8:1::", mask: 60 }] },
      { ipv6: [] },
    ],
  ])("%s", (_, more, expected) => expect(read(more)).toMatchObject(expected as object));

  test.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /no list of interfaces/],
    ["a text", { interface: "x" }, /no list of interfaces/],
    ["an interface without a name", { interface: [{ up: true }] }, /has no name/],
    ["text for up", { interface: [{ interface: "wan", up: "yes" }] }, /wan: up is neither/],
    [
      "something else instead of a list",
      { interface: [{ interface: "wan", up: true, "ipv4-address": {} }] },
      /ipv4-address is not a list/,
    ],
    [
      "a number for an address",
      { interface: [{ interface: "wan", up: true, "ipv4-address": [{ address: 7 }] }] },
      /an entry of ipv4-address is malformed/,
    ],
    [
      "text for a lifetime",
      { interface: [{ interface: "wan", up: true, "ipv6-address": [{ ...entry, valid: "9" }] }] },
      /an entry of ipv6-address/,
    ],
    [
      "an invalid local address",
      { interface: [{ interface: "lan", up: true, "ipv6-prefix-assignment": [{ ...entry, "local-address": 7 }] }] },
      /ipv6-prefix-assignment/,
    ],
  ])("%s is unreadable", (_, data, because) => {
    expect(readInterfaceDump(data)).toEqual({ kind: "unreadable", because: expect.stringMatching(because) });
  });
});
