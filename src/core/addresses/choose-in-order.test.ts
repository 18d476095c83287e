import { describe, expect, it, test } from "vitest";
import { type CarpRole, carpRole } from "./carp-role.ts";
import { chooseAddress } from "./choose-address.ts";
import { chooseInOrder, type OrderedChoice, type OrderedPolicy } from "./choose-in-order.ts";
import { parseHostPart } from "./host-part.ts";
import type { InterfaceReport, ReportedInterface, ReportedIpv6 } from "./interface-report.ts";

const v6 = (text: string, more: Partial<ReportedIpv6> = {}): ReportedIpv6 => ({
  text,
  linkLocal: false,
  deprecated: false,
  tentative: false,
  detached: false,
  prefixLength: 64,
  ...more,
});

const link = (device: string, ipv4: string, more: Partial<ReportedInterface> = {}): ReportedInterface => ({
  device,
  up: true,
  ipv4: ipv4 === "" ? [] : [{ text: ipv4 }],
  ipv6: [],
  ...more,
});

const reportOf = (...links: readonly ReportedInterface[]): InterfaceReport =>
  new Map(links.map((each) => [each.device, each]));

const chooseFrom = (report: InterfaceReport, { devices, ...policy }: OrderedPolicy): OrderedChoice =>
  chooseInOrder(
    devices.map((device) => ({ device, report })),
    policy,
  );

const cases: [string, InterfaceReport, Partial<OrderedPolicy>, string | undefined, string, string[]][] = [
  ["the first, if it is suitable", reportOf(link("a", "9.9.9.1"), link("b", "9.9.9.2")), {}, "9.9.9.1", "a", []],
  [
    "the second, if the first is down",
    reportOf(link("a", "9.9.9.1", { up: false }), link("b", "9.9.9.2")),
    {},
    "9.9.9.2",
    "b",
    ["down"],
  ],
  [
    "the second, if the first has no address",
    reportOf(link("a", ""), link("b", "9.9.9.2")),
    {},
    "9.9.9.2",
    "b",
    ["no-fit-address"],
  ],
  ["the second, if the first is gone", reportOf(link("b", "9.9.9.2")), {}, "9.9.9.2", "b", ["not-there"]],
  [
    "the second, if the first has a loopback address",
    reportOf(link("a", "127.0.0.1"), link("b", "9.9.9.2")),
    {},
    "9.9.9.2",
    "b",
    ["no-fit-address"],
  ],
  [
    "the first, if its address is private",
    reportOf(link("a", "10.0.0.1"), link("b", "9.9.9.2")),
    {},
    "10.0.0.1",
    "a",
    [],
  ],
  [
    "the second, if the first has a private address and public ones are required",
    reportOf(link("a", "10.0.0.1"), link("b", "9.9.9.2")),
    { public: "require" },
    "9.9.9.2",
    "b",
    ["no-fit-address"],
  ],
  [
    "the first, if it is unknown whether it is up",
    reportOf({ device: "a", ipv4: [{ text: "9.9.9.1" }], ipv6: [] }),
    {},
    "9.9.9.1",
    "a",
    [],
  ],
  [
    "none suitable",
    reportOf(link("a", ""), link("b", "9.9.9.2", { up: false })),
    {},
    undefined,
    "a",
    ["no-fit-address", "down"],
  ],
  [
    "all down, though they have addresses",
    reportOf(link("a", "9.9.9.1", { up: false }), link("b", "9.9.9.2", { up: false })),
    {},
    undefined,
    "a",
    ["down", "down"],
  ],
  [
    "the first is gone and the second is down: reports the second",
    reportOf(link("b", "9.9.9.2", { up: false })),
    {},
    undefined,
    "b",
    ["not-there", "down"],
  ],
  [
    "alone and down: taken anyway",
    reportOf(link("a", "9.9.9.1", { up: false })),
    { devices: ["a"] },
    "9.9.9.1",
    "a",
    [],
  ],
];

describe("the first interface that is up and has a suitable address", () => {
  test.each(cases)("%s", (_, report, policy, address, device, passedOver) => {
    const chosen = chooseFrom(report, { devices: ["a", "b"], family: "ipv4", ...policy });
    expect(chosen.choice.kind === "address" ? chosen.choice.address.text : undefined).toBe(address);
    expect(chosen.device).toBe(device);
    expect(chosen.passedOver.map(({ because }) => because)).toEqual(passedOver);
  });

  it("is none, with the addresses considered, if one of the interfaces is known to have no suitable address", () => {
    const report = reportOf(link("b", "127.0.0.1"), link("c", ""));
    expect(chooseFrom(report, { devices: ["a", "b", "c"], family: "ipv4" })).toMatchObject({
      choice: { kind: "none", because: "no-fit-address" },
      device: "b",
      considered: [{ text: "127.0.0.1", verdict: "loopback" }],
    });
  });

  it("is unknown only if none of the interfaces is in the report", () => {
    const chosen = chooseFrom(reportOf(link("c", "9.9.9.1")), { devices: ["a", "b"], family: "ipv4" });
    expect(chosen.choice).toEqual({ kind: "unknown-interface", device: "a", knownDevices: ["c"] });
  });
});

describe("virtual addresses and prefixes", () => {
  const shared = reportOf(
    link("a", "", {
      ipv4: [{ text: "9.9.9.1" }, { text: "9.9.9.100", vhid: "1" }],
      ipv6: [
        v6("2a00::1"),
        v6("2a00::100", { vhid: "1" }),
        v6("2a00:0:0:9::1", { prefixLength: 128, deprecated: true }),
      ],
      carp: new Map([["1", "MASTER"]]),
    }),
    link("b", "", { carp: new Map([["2", "BACKUP"]]) }),
  );
  const chosen = (policy: Partial<Parameters<typeof chooseAddress>[1]>) => {
    const { choice } = chooseAddress(shared, { device: "a", family: "ipv4", ...policy });
    return choice.kind === "address" ? choice.address.text : choice.kind;
  };
  const host = parseHostPart("::5");

  test.each([
    ["the interface's own by default", {}, "9.9.9.1"],
    ["the address of the VHID", { vhid: "1" }, "9.9.9.100"],
    ["another VHID", { vhid: "7" }, "none"],
    ["the IPv6 address of the VHID", { vhid: "1", family: "ipv6" as const }, "2a00::100"],
    ["the interface's prefix with a host part", { family: "ipv6" as const, ...(host ? { host } : {}) }, "2a00::5"],
  ])("%s", (_, policy, expected) => expect(chosen(policy)).toBe(expected));

  it("says which addresses belong to another VHID", () => {
    const { considered } = chooseAddress(shared, { device: "a", family: "ipv4", vhid: "1" });
    expect(considered).toEqual([
      { text: "9.9.9.1", verdict: "other-vhid" },
      { text: "9.9.9.100", verdict: "taken" },
    ]);
  });

  it("takes the first IPv4 address even if it is virtual", () => {
    const report = reportOf(link("a", "", { ipv4: [{ text: "9.9.9.100", vhid: "1" }, { text: "9.9.9.1" }] }));
    const { choice } = chooseAddress(report, { device: "a", family: "ipv4" });
    expect(choice).toMatchObject({ address: { text: "9.9.9.100" } });
  });

  it("takes the prefix of a network of the expected size", () => {
    const report = reportOf(link("a", "", { ipv6: [v6("2a00:0:0:9::1", { prefixLength: 64 })] }));
    if (!host) throw new Error("no host part");
    const { choice } = chooseAddress(report, { device: "a", family: "ipv6", host });
    expect(choice).toMatchObject({ address: { text: "2a00:0:0:9::5" } });
  });

  it("takes no prefix from a single address, unless its length is configured", () => {
    const report = reportOf(link("a", "", { ipv6: [v6("2a00:0:0:9::1", { prefixLength: 128 })] }));
    if (!host) throw new Error("no host part");
    const policy = { device: "a", family: "ipv6" } as const;
    expect(chooseAddress(report, { ...policy, host }).considered).toEqual([
      { text: "2a00:0:0:9::1", verdict: "no-prefix" },
    ]);
    const told = chooseAddress(report, { ...policy, host: { ...host, lengthIsGiven: true } });
    expect(told.choice).toMatchObject({ address: { text: "2a00:0:0:9::5" } });
  });

  test.each<[string, CarpRole]>([
    ["1", "master"],
    ["2", "stand-by"],
    ["3", "absent"],
  ])("VHID %s: %s", (vhid, role) => expect(carpRole(shared, vhid)).toBe(role));

  it("a firewall is not the master of a VHID if it is the master on only one of two interfaces", () => {
    const half = reportOf(
      link("a", "", { carp: new Map([["1", "MASTER"]]) }),
      link("b", "", { carp: new Map([["1", "BACKUP"]]) }),
    );
    expect(carpRole(half, "1")).toBe("stand-by");
  });
});
