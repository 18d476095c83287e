import { describe, expect, it } from "vitest";
import type { KernelAddress, KernelRow } from "../../lib/kernel/row.ts";
import { noConfig } from "../config.ts";
import { takeSnapshot } from "./report.ts";
import { sameReport } from "./same-report.ts";

const address = (more: Partial<KernelAddress> = {}): KernelAddress => ({
  family: "inet6",
  local: "2001:db8::1",
  prefixlen: 64,
  valid_life_time: 7_200,
  preferred_life_time: 3_600,
  ...more,
});
const device = (more: Partial<KernelRow> = {}): KernelRow => ({
  ifindex: 2,
  ifname: "eth0",
  flags: ["UP", "LOWER_UP"],
  mtu: 1500,
  link_type: "ether",
  addr_info: [address()],
  ...more,
});
const at = (seconds: number, ...rows: KernelRow[]) => takeSnapshot(rows, noConfig, seconds * 1000);
const aged = (seconds: number, more: Partial<KernelAddress> = {}) =>
  device({
    addr_info: [address({ valid_life_time: 7_200 - seconds, preferred_life_time: 3_600 - seconds, ...more })],
  });

describe("sameReport", () => {
  it.each<[string, boolean, readonly KernelRow[]]>([
    ["a minute later, lifetimes a minute shorter", true, [aged(60)]],
    ["the kernel rounds", true, [aged(61)]],
    ["extended by a router", false, [aged(0)]],
    ["shortened by a router", false, [aged(600)]],
    ["without a lifetime now", false, [aged(60, { valid_life_time: 0xffffffff })]],
    ["deprecated now", false, [aged(60, { deprecated: true, preferred_life_time: 0 })]],
    ["another address", false, [aged(60, { local: "2001:db8::2" })]],
    ["no address", false, [device({ addr_info: [] })]],
    ["another MTU", false, [{ ...aged(60), mtu: 1492 }]],
    ["link down", false, [{ ...aged(60), flags: ["UP", "NO-CARRIER"] }]],
    ["renamed", false, [{ ...aged(60), ifname: "wan" }]],
    ["gone", false, []],
    ["one more device", false, [aged(60), device({ ifname: "eth1", ifindex: 3, addr_info: [] })]],
    ["counters changed", true, [{ ...aged(60), stats64: { rx: { bytes: 5 } } }]],
  ])("%s: %s", (_, same, rows) => {
    expect(sameReport(at(0, device()), at(60, ...rows))).toBe(same);
  });

  it("notices two devices that swapped places", () => {
    const [one, other] = [device({ ifname: "a", addr_info: [] }), device({ ifname: "b", addr_info: [] })];
    expect(sameReport(at(0, one, { ...other, ifindex: 3 }), at(0, { ...one, ifindex: 3 }, other))).toBe(false);
  });
});
