import { describe, expect, it } from "vitest";
import { readFirewallConfig } from "./read-config.ts";

const faultsIn = (text: string) => {
  const read = readFirewallConfig(text, "firewall.yaml");
  return read.ok ? [] : read.faults.map(({ where, message }) => `${where}: ${message}`);
};

describe("firewall.yaml", () => {
  it.each(["", "# nothing yet", "{}", "interfaces:", "interfaces: {}"])("%j has no settings", (text) => {
    expect(readFirewallConfig(text, "firewall.yaml")).toEqual({ ok: true, value: { interfaces: [] } });
  });

  it("is read in its order", () => {
    const text = "interfaces:\n  veth*: { hidden: true }\n  eth0: { description: WAN, identifier: wan }\n";
    expect(readFirewallConfig(text, "firewall.yaml")).toEqual({
      ok: true,
      value: {
        interfaces: [
          ["veth*", { hidden: true }],
          ["eth0", { hidden: false, description: "WAN", identifier: "wan" }],
        ],
      },
    });
  });

  it("has all its faults reported together", () => {
    const text = "listen: 1\ninterfaces:\n  a: { hidden: yes, descripton: x }\n  b: true\n  c: { description: [] }\n";
    expect(faultsIn(text)).toEqual([
      'firewall.yaml:1:1: firewall.yaml has no setting "listen"',
      'firewall.yaml:3:21: interface a has no setting "descripton"',
      "firewall.yaml:3:16: hidden of interface a is neither true nor false",
      "firewall.yaml:4:6: interface b is a single value, not a mapping",
      "firewall.yaml:5:21: description of interface c is a list, not text",
    ]);
    for (const other of ["7", "x", "[]", "interfaces: []", "a: [", "\u0000"]) expect(faultsIn(other)).not.toEqual([]);
  });

  it("has unique identifiers: some responses are keyed by them", () => {
    const text =
      "interfaces:\n  eth0: { identifier: wan }\n  ppp0: { identifier: wan }\n  veth*: { identifier: opt1 }\n";
    expect(faultsIn(text)).toEqual([
      "firewall.yaml:3:9: eth0 already is wan",
      "firewall.yaml:4:10: a pattern cannot have an identifier",
    ]);
  });
});
