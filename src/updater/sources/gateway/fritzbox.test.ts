import { afterAll, beforeAll, beforeEach, expect, it, test } from "vitest";
import { noIpv6, startFritzboxPeer } from "../../../../test/rig/updater/sources/fritzbox.ts";
import type { UpnpPeer, Values } from "../../../../test/rig/updater/sources/upnp-peer.ts";
import { chooseAddress } from "../../../core/addresses/choose-address.ts";
import { parseHostPart } from "../../../core/addresses/host-part.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import type { AddressSource } from "../source.ts";
import { fritzbox } from "./fritzbox.ts";
import { createFritzboxSource } from "./fritzbox-source.ts";

const never = new AbortController().signal;
const open = (url: string) => fritzbox.open({ url: new URL(url), timeout: 15_000 }, createHttpClient);

let peer: UpnpPeer;
let source: AddressSource;
beforeAll(async () => {
  peer = await startFritzboxPeer();
  source = await open(peer.url);
});
afterAll(async () => {
  source.close();
  await peer.close();
});

const ipv4 = { NewExternalIPAddress: "95.88.99.96" };
const ipv6 = {
  NewExternalIPv6Address: "2a01:71a0:8002::d:0:1bb5",
  NewPrefixLength: "64",
  NewValidLifetime: "599",
  NewPreferedLifetime: "299",
};
const prefix = {
  NewIPv6Prefix: "2a01:71a0:8406:7600::",
  NewPrefixLength: "56",
  NewValidLifetime: "501",
  NewPreferedLifetime: "451",
};
const noAddress = { NewExternalIPv6Address: "", ...noIpv6 };
const noPrefix = { NewIPv6Prefix: "", ...noIpv6 };

type Answers = { readonly ipv4?: Values | number; readonly ipv6?: Values | number; readonly prefix?: Values | number };

const say = (answers: Answers) => {
  peer.values.set("GetExternalIPAddress", answers.ipv4 ?? ipv4);
  peer.values.set("X_AVM_DE_GetExternalIPv6Address", answers.ipv6 ?? ipv6);
  peer.values.set("X_AVM_DE_GetIPv6Prefix", answers.prefix ?? prefix);
};
beforeEach(() => say({}));

/** The IPv4 address, the IPv6 address, and the address of the machine `::9` behind the box; otherwise why not. */
async function read(): Promise<readonly string[]> {
  const reading = await source.read(never);
  if (reading.kind === "unavailable") return [reading.because];
  const host = parseHostPart("::9");
  const policies = [{ family: "ipv4" }, { family: "ipv6" }, { family: "ipv6", ...(host && { host }) }] as const;
  return policies.map((policy) => {
    const { choice } = chooseAddress(reading.report, { device: "internet", ...policy });
    return choice.kind === "address" ? choice.address.text : (reading.unknown?.[policy.family]?.because ?? "none");
  });
}

const [v4, v6, behind] = ["95.88.99.96", "2a01:71a0:8002::d:0:1bb5", "2a01:71a0:8406:7600::9"];

test.each<[string, Answers, readonly unknown[]]>([
  ["both families and a prefix", {}, [v4, v6, behind]],
  [
    "a release that appends the length to the prefix",
    { prefix: { ...prefix, NewIPv6Prefix: "2a01:71a0:8406:7600::/56" } },
    [v4, v6, behind],
  ],
  ["IPv6 switched off", { ipv6: noAddress, prefix: noPrefix }, [v4, "none", "none"]],
  ["DS-Lite: no IPv4 address", { ipv4: { NewExternalIPAddress: "" } }, ["none", v6, behind]],
  ["a cable box without IPv4, as zeros", { ipv4: { NewExternalIPAddress: "0.0.0.0" } }, ["none", v6, behind]],
  ["a prefix without an address", { ipv6: noAddress }, [v4, "none", behind]],
  [
    "an address without a prefix: nothing is known about the network behind the box",
    { prefix: noPrefix },
    [v4, v6, "none"],
  ],
  ["a release without the prefix", { prefix: 401 }, [v4, v6, "none"]],
  [
    "a release without IPv6",
    { ipv6: 401, prefix: 401 },
    [v4, ...Array(2).fill("the FRITZ!Box refused to report its IPv6 address: 401 Invalid Action")],
  ],
  ["the whole address space as a prefix", { prefix: { ...prefix, NewIPv6Prefix: "::" } }, [v4, v6, "none"]],
  ["an address that is no longer preferred", { ipv6: { ...ipv6, NewPreferedLifetime: "0" } }, [v4, "none", behind]],
  [
    "an address with lifetimes of zero",
    { ipv6: { ...ipv6, NewValidLifetime: "0", NewPreferedLifetime: "0" } },
    [v4, v6, behind],
  ],
  [
    "a prefix that is no longer valid",
    { prefix: { ...prefix, NewValidLifetime: "0", NewPreferedLifetime: "0" } },
    [v4, v6, "none"],
  ],
  ["no lifetimes", { ipv6: { NewExternalIPv6Address: v6 ?? "" } }, [v4, v6, behind]],
  [
    "an IPv4 address that it may not report",
    { ipv4: 606 },
    ["the FRITZ!Box refused to report its IPv4 address: 606 Action not authorized", v6, behind],
  ],
  [
    "an invalid IPv4 address",
    { ipv4: { NewExternalIPAddress: "unknown" } },
    ['the FRITZ!Box reports "unknown" as its IPv4 address', v6, behind],
  ],
  [
    "an invalid IPv6 address",
    { ipv6: { ...ipv6, NewExternalIPv6Address: "x" } },
    [v4, ...Array(2).fill('the FRITZ!Box reports "x" as its IPv6 address')],
  ],
  [
    "an invalid prefix",
    { prefix: { ...prefix, NewIPv6Prefix: "x/56" } },
    [v4, ...Array(2).fill('the FRITZ!Box reports "x/56" as its IPv6 prefix')],
  ],
  ["an answer without a value", { ipv4: {} }, ["the FRITZ!Box sent an answer without its IPv4 address", v6, behind]],
  [
    "offline",
    { ipv4: { NewExternalIPAddress: "" }, ipv6: noAddress, prefix: noPrefix },
    ["the FRITZ!Box is not connected to the internet"],
  ],
  [
    "offline, with zeros",
    { ipv4: { NewExternalIPAddress: "0.0.0.0" }, ipv6: noAddress, prefix: noPrefix },
    ["the FRITZ!Box is not connected to the internet"],
  ],
  ["in use as a repeater", { ipv4: 501, ipv6: 501, prefix: 501 }, [expect.stringContaining("501 Action Failed")]],
  [
    "no IPv4 address, and an unknown IPv6 address",
    { ipv4: { NewExternalIPAddress: "" }, ipv6: 401 },
    [expect.stringContaining("IPv6 address: 401")],
  ],
])("%s", async (_, answers, expected) => {
  say(answers);
  expect(await read()).toEqual(expected);
});

it("reports lifetimes and prefix lengths", async () => {
  say({ prefix: { ...prefix, NewValidLifetime: "4294967295" } });
  const reading = await source.read(never);
  expect(reading.kind === "report" && reading.report.get("internet")?.ipv6).toMatchObject([
    { text: v6, prefixLength: 64, validLifetime: 599 },
    { text: "2a01:71a0:8406:7600::", prefixLength: 56, validLifetime: Number.POSITIVE_INFINITY, delegated: true },
  ]);
});

it("reads the description once, and again after a failure", async () => {
  const descriptions = () => peer.asked.filter(({ path }) => path === "/igddesc.xml").length;
  await read();
  const before = descriptions();
  await read();
  expect(descriptions()).toBe(before);
  peer.fail({ status: 503 });
  expect(await read()).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+ answered 503$/)]);
  await peer.recover();
  expect([await read(), descriptions()]).toEqual([[v4, v6, behind], before + 1]);
});

test.each([
  ["8.8.8.8", "the name localhost resolves to 8.8.8.8, which is not in the local network"],
  ["100.64.0.1", "the name localhost resolves to 100.64.0.1, which is not in the local network"],
  ["nothing", "the name localhost cannot be resolved"],
  ["127.0.0.1", undefined],
])("a name that resolves to %s", async (address, because) => {
  const resolve = async () => {
    if (address === "nothing") throw new Error("ENOTFOUND");
    return address;
  };
  const url = new URL(`http://localhost:${peer.port}`);
  const named = createFritzboxSource({ url, timeout: 15_000 }, createHttpClient, undefined, resolve);
  const reading = await named.read(never);
  named.close();
  expect(reading.kind === "unavailable" ? reading.because : undefined).toBe(because);
});
