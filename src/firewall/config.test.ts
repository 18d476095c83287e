import { expect, it, describe as suite } from "vitest";
import { describe, describeShortly, type FirewallConfig, identify, settingsOf } from "./config.ts";

const config: FirewallConfig = {
  interfaces: [
    ["ppp0", { hidden: false, description: "Line", identifier: "wan" }],
    ["eth0", { hidden: false, identifier: "lan" }],
    ["veth*", { hidden: true }],
    ["a*b*c", { hidden: true }],
  ],
};

suite("settingsOf", () => {
  it.each([
    ["veth0", true],
    ["veth", true],
    ["vet", false],
    ["xveth0", false],
    ["abc", true],
    ["a1b2c", true],
    ["abcb", false],
    ["ab", false],
    ["aXc", false],
    ["ppp0", false],
    ["__proto__", false],
  ])("%s is hidden: %s", (device, hidden) => {
    expect(settingsOf(config, device).hidden).toBe(hidden);
  });
});

suite("names", () => {
  it.each([
    ["ppp0", ["up"], "Line", "Line", "wan"],
    ["eth0", ["up"], "LAN", "lan", "lan"],
    ["eth1", ["up"], "ETH1", "eth1", "eth1"],
    ["lo", ["up", "loopback"], "Loopback", "Loopback", "lo"],
  ])("%s %j is called %s, %s and %s", (device, flags, description, short, identifier) => {
    expect(describe(config, device, flags)).toBe(description);
    expect(describeShortly(config, device, flags)).toBe(short);
    expect(identify(config, device)).toBe(identifier);
  });
});
