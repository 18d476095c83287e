import { expect, it, describe as suite } from "vitest";
import { describe, describeShortly, type FirewallConfig, identify, readConfig, settingsOf } from "./config.ts";

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

suite("readConfig", () => {
  it.each([[undefined], [null], [{}], [{ interfaces: {} }]])("%j has no settings", (content) => {
    expect(readConfig(content)).toEqual({ kind: "config", config: { interfaces: [] } });
  });

  it("reads settings in the order of the file", () => {
    const interfaces = { "veth*": { hidden: true }, eth0: { description: "WAN", identifier: "wan" } };
    expect(readConfig({ interfaces })).toEqual({
      kind: "config",
      config: {
        interfaces: [
          ["veth*", { hidden: true }],
          ["eth0", { hidden: false, description: "WAN", identifier: "wan" }],
        ],
      },
    });
  });

  it("reports all faults together", () => {
    const interfaces = { a: { hidden: "yes", descripton: "x" }, b: true, c: { description: 7 } };
    expect(readConfig({ interfaces, listen: 1 })).toEqual({
      kind: "faults",
      faults: [
        { at: ["listen"], message: "unknown setting; the only one is interfaces" },
        { at: ["interfaces", "a", "hidden"], message: "must be true or false" },
        {
          at: ["interfaces", "a", "descripton"],
          message: "unknown setting; use one of hidden, description, identifier",
        },
        { at: ["interfaces", "b"], message: "must have settings: hidden, description, identifier" },
        { at: ["interfaces", "c", "description"], message: "must be text" },
      ],
    });
    for (const content of [7, "x", []]) expect(readConfig(content).kind).toBe("faults");
    expect(readConfig({ interfaces: [] }).kind).toBe("faults");
  });

  it("requires unique identifiers: some responses are keyed by them", () => {
    const interfaces = { eth0: { identifier: "wan" }, ppp0: { identifier: "wan" }, "veth*": { identifier: "opt1" } };
    expect(readConfig({ interfaces })).toEqual({
      kind: "faults",
      faults: [
        { at: ["interfaces", "ppp0", "identifier"], message: "eth0 already uses it; choose another" },
        {
          at: ["interfaces", "veth*", "identifier"],
          message: "a pattern cannot have an identifier, which must be unique; leave it out",
        },
      ],
    });
  });
});
