import { describe, expect, it } from "vitest";
import { defaultRoute4, defaultRoute6, pickOutward } from "./outward-device.ts";

const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
const lan = "eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
const out = "ppp0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";

describe("the default route", () => {
  it.each([
    ["is the row to 0", head + lan + out, "ppp0"],
    ["is not there", head + lan, undefined],
    ["is not in an empty table", "", undefined],
  ])("of IPv4 %s", (_, table, device) => expect(defaultRoute4(table)).toBe(device));

  const zeros = "0".repeat(32);
  const row = (destination: string, length: string, device: string) =>
    `${destination} ${length} ${zeros} 00 ${zeros} 00000400 00000001 00000000 00000001     ${device}\n`;
  it.each([
    ["is the row to ::/0", row(`fe8${"0".repeat(29)}`, "40", "eth1") + row(zeros, "00", "ppp0"), "ppp0"],
    ["is not the kernel's rejecting one", row(zeros, "00", "lo"), undefined],
  ])("of IPv6 %s", (_, table, device) => expect(defaultRoute6(table)).toBe(device));
});

describe("the device to follow", () => {
  const none = { loopback: false, addressed: false, publishable: false };
  const lo = { name: "lo", ...none, loopback: true, addressed: true };
  const bare = { name: "bare", ...none };
  const near = { name: "near", ...none, addressed: true };
  const good = { name: "good", ...none, addressed: true, publishable: true };
  const other = { ...good, name: "other" };
  it.each([
    ["that of the default route", [lo, good, other], "other", "other"],
    ["never one without an address", [lo, bare, good], "bare", "good"],
    ["one with an address to publish before one with a link-local one", [lo, near, good], undefined, "good"],
    ["one with a link-local address, when there is no better", [lo, bare, near], undefined, "near"],
    ["not loopback", [lo, bare], undefined, undefined],
  ])("is %s", (_, devices, route, device) => expect(pickOutward(devices, route)).toBe(device));
});
