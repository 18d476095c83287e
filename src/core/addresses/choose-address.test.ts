import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Considered, chooseAddress } from "./choose-address.ts";
import { parseHostPart } from "./host-part.ts";
import type { InterfaceReport, ReportedIpv4, ReportedIpv6 } from "./interface-report.ts";

const entry = (text: string, extra: Partial<ReportedIpv6> = {}): ReportedIpv6 => ({
  text,
  linkLocal: false,
  deprecated: false,
  tentative: false,
  detached: false,
  ...extra,
});

const report = (ipv4: readonly string[], ipv6: readonly ReportedIpv6[]): InterfaceReport =>
  new Map([["wan0", { device: "wan0", ipv4: ipv4.map((text) => ({ text })), ipv6 }]]);

const verdicts = (considered: readonly Considered[]) => considered.map(({ verdict }) => verdict);

describe("IPv4: the first element and no other", () => {
  const cases: [string, string[], string | undefined, string[]][] = [
    ["one address", ["198.51.100.7"], "198.51.100.7", ["taken"]],
    ["aliases after it", ["198.51.100.7", "8.8.8.8"], "198.51.100.7", ["taken", "not-first"]],
    ["an unsuitable alias after it", ["198.51.100.7", "127.0.0.1"], "198.51.100.7", ["taken", "loopback"]],
    ["a private one is taken when it is first", ["10.0.0.1", "8.8.8.8"], "10.0.0.1", ["taken", "not-first"]],
    ["none", [], undefined, []],
    ["unspecified, as during a reconnect", ["0.0.0.0"], undefined, ["unspecified"]],
    [
      "an unsuitable first one is not replaced by an alias",
      ["169.254.3.4", "8.8.8.8"],
      undefined,
      ["link-local", "not-first"],
    ],
    ["loopback", ["127.0.0.1"], undefined, ["loopback"]],
    ["multicast", ["224.0.0.1"], undefined, ["multicast"]],
    ["leading zero", ["010.0.0.1"], undefined, ["malformed"]],
    ["prefix length", ["8.8.8.8/24"], undefined, ["malformed"]],
    ["empty text", [""], undefined, ["malformed"]],
    ["an IPv6 address in the wrong list", ["2001:db8::1"], undefined, ["wrong-family"]],
  ];
  test.each(cases)("%s", (_, texts, taken, expected) => {
    const { choice, considered } = chooseAddress(report(texts, []), { device: "wan0", family: "ipv4" });
    expect(choice.kind === "address" ? choice.address.text : undefined).toBe(taken);
    expect(verdicts(considered)).toEqual(expected);
    expect(considered.map(({ text }) => text)).toEqual(texts);
  });
});

describe("IPv4 with public: require: the first public element", () => {
  const policy = { device: "wan0", family: "ipv4", public: "require" } as const;
  const choose = (ipv4: readonly ReportedIpv4[], vhid?: string) => {
    const { choice, considered } = chooseAddress(new Map([["wan0", { device: "wan0", ipv4, ipv6: [] }]]), {
      ...policy,
      vhid,
    });
    return [choice.kind === "address" ? choice.address.text : undefined, ...verdicts(considered)];
  };

  test.each<[string, string[], [string | undefined, ...string[]]]>([
    ["a private one before it", ["10.0.0.1", "8.8.8.8"], ["8.8.8.8", "private", "taken"]],
    [
      "that of a modem, and of a carrier",
      ["192.168.100.2", "100.64.0.1", "8.8.8.8"],
      ["8.8.8.8", "private", "cgnat", "taken"],
    ],
    ["link-local before it", ["169.254.3.4", "8.8.8.8"], ["8.8.8.8", "link-local", "taken"]],
    ["two public ones", ["8.8.8.8", "9.9.9.9"], ["8.8.8.8", "taken", "not-first"]],
    ["only private ones", ["10.0.0.1", "10.0.0.2"], [undefined, "private", "private"]],
  ])("%s", (_, texts, expected) => expect(choose(texts.map((text) => ({ text })))).toEqual(expected));

  it("prefers the interface's own address to a virtual one, unless that is wanted", () => {
    const entries = [{ text: "10.0.0.1" }, { text: "8.8.8.8", vhid: "1" }, { text: "9.9.9.9" }];
    expect(choose(entries)).toEqual(["9.9.9.9", "private", "not-first", "taken"]);
    expect(choose(entries, "1")).toEqual(["8.8.8.8", "other-vhid", "taken", "other-vhid"]);
    expect(choose(entries.slice(0, 2))).toEqual(["8.8.8.8", "private", "taken"]);
  });
});

describe("IPv6: not link-local, then a stable order", () => {
  const cases: [string, ReportedIpv6[], string | undefined, string[]][] = [
    [
      "link-local by flag and by text",
      [entry("2001:db8::2", { linkLocal: true }), entry("fe80::1"), entry("febf::1")],
      undefined,
      ["link-local", "link-local", "link-local"],
    ],
    [
      "a deprecated address is listed first",
      [entry("2001:db8:a::1", { deprecated: true, validLifetime: 5400 }), entry("2001:db8:b::1")],
      "2001:db8:b::1",
      ["deprecated", "taken"],
    ],
    [
      "a deprecated address has the longer lifetime",
      [
        entry("2001:db8:a::1", { deprecated: true, validLifetime: 7200 }),
        entry("2001:db8:b::1", { validLifetime: 60 }),
      ],
      "2001:db8:b::1",
      ["deprecated", "taken"],
    ],
    [
      "tentative and detached",
      [entry("2001:db8::1", { tentative: true }), entry("2001:db8::2", { detached: true })],
      undefined,
      ["tentative", "detached"],
    ],
    [
      "ULA listed first",
      [entry("fd00:db8::1"), entry("2001:db8::1", { validLifetime: 60 })],
      "2001:db8::1",
      ["ula-behind-global", "taken"],
    ],
    ["ULA alone", [entry("fd00:db8::1"), entry("fe80::1")], "fd00:db8::1", ["taken", "link-local"]],
    [
      "the longest lifetime",
      [entry("2001:db8::1", { validLifetime: 60 }), entry("2001:db8::2", { validLifetime: 7200 })],
      "2001:db8::2",
      ["shorter-lifetime", "taken"],
    ],
    [
      "no lifetime listed is a static address",
      [entry("2001:db8::1", { validLifetime: 7200 }), entry("2001:db8::2")],
      "2001:db8::2",
      ["shorter-lifetime", "taken"],
    ],
    [
      "a CARP address, static and first, ranks below the interface's own",
      [entry("2001:db8::100", { vhid: "1" }), entry("2001:db8::1", { validLifetime: 7200 })],
      "2001:db8::1",
      ["virtual-behind-own", "taken"],
    ],
    [
      "a temporary address ranks below a permanent one that is valid for a shorter time",
      [entry("2001:db8::7", { temporary: true, validLifetime: 7200 }), entry("2001:db8::1", { validLifetime: 3600 })],
      "2001:db8::1",
      ["temporary-behind-permanent", "taken"],
    ],
    [
      "a CARP address ranks above a ULA",
      [entry("fd00::1"), entry("2001:db8::100", { vhid: "1" })],
      "2001:db8::100",
      ["ula-behind-global", "taken"],
    ],
    [
      "otherwise report order",
      [entry("2001:db8::2"), entry("2001:db8::1")],
      "2001:db8::2",
      ["taken", "later-in-report"],
    ],
    ["loopback", [entry("::1")], undefined, ["loopback"]],
    ["unspecified", [entry("::")], undefined, ["unspecified"]],
    ["multicast", [entry("ff02::1")], undefined, ["multicast"]],
    ["a zone inside the text", [entry("2001:db8::1%wan0")], undefined, ["malformed"]],
    ["an IPv4 address in the wrong list", [entry("198.51.100.7")], undefined, ["wrong-family"]],
    [
      "a reserved address only when there is no other",
      [entry("64:ff9b::9.9.9.9"), entry("fd00::1")],
      "fd00::1",
      ["reserved-behind-others", "taken"],
    ],
    [
      "a private IPv4 address in 6to4 counts as reserved",
      [entry("2002:a00:1::1"), entry("fd00::1")],
      "fd00::1",
      ["reserved-behind-others", "taken"],
    ],
    ["printed canonically", [entry("2001:DB8:0:0::1")], "2001:db8::1", ["taken"]],
  ];
  test.each(cases)("%s", (_, entries, taken, expected) => {
    const { choice, considered } = chooseAddress(report([], entries), { device: "wan0", family: "ipv6" });
    expect(choice.kind === "address" ? choice.address.text : undefined).toBe(taken);
    expect(verdicts(considered)).toEqual(expected);
  });
});

describe("IPv6: the published address stays unless another is better", () => {
  const lives = (validLifetime: number) => ({ validLifetime });
  const previousAddresses = ["2001:db8:a::1"];
  const cases: [string, ReportedIpv6[], string, string[]][] = [
    [
      "another address of its network was renewed",
      [entry("2001:db8:a::1", lives(7100)), entry("2001:db8:a::2", { ...lives(7200), prefixLength: 128 })],
      "2001:db8:a::1",
      ["taken", "behind-published"],
    ],
    [
      "it was renewed itself",
      [entry("2001:db8:a::2", lives(7100)), entry("2001:db8:a::1", lives(7200))],
      "2001:db8:a::1",
      ["shorter-lifetime", "taken"],
    ],
    [
      "another address without a lifetime was listed before it",
      [entry("2001:db8:a::2"), entry("2001:db8:a::1")],
      "2001:db8:a::1",
      ["behind-published", "taken"],
    ],
    [
      "it is deprecated",
      [entry("2001:db8:a::1", { ...lives(7200), deprecated: true }), entry("2001:db8:a::2", lives(7100))],
      "2001:db8:a::2",
      ["deprecated", "taken"],
    ],
    [
      "it is gone",
      [entry("2001:db8:a::3", lives(7100)), entry("2001:db8:a::2", lives(7200))],
      "2001:db8:a::2",
      ["shorter-lifetime", "taken"],
    ],
    [
      "there is a new network, and its own is not deprecated yet",
      [entry("2001:db8:a::1", lives(7100)), entry("2001:db8:b::1", lives(7200))],
      "2001:db8:b::1",
      ["shorter-lifetime", "taken"],
    ],
    [
      "there is a new network that differs only in its last bit",
      [entry("2001:db8:a::1", lives(7100)), entry("2001:db8:a:1::1", lives(7200))],
      "2001:db8:a:1::1",
      ["shorter-lifetime", "taken"],
    ],
    [
      "there is one that never expires",
      [entry("2001:db8:a::1", lives(7200)), entry("2001:db8:a::2")],
      "2001:db8:a::2",
      ["shorter-lifetime", "taken"],
    ],
    [
      "it is a CARP address",
      [entry("2001:db8:a::1", { vhid: "1" }), entry("2001:db8:a::2")],
      "2001:db8:a::2",
      ["virtual-behind-own", "taken"],
    ],
  ];
  test.each(cases)("%s", (_, entries, taken, expected) => {
    const { choice, considered } = chooseAddress(report([], entries), {
      device: "wan0",
      family: "ipv6",
      previousAddresses,
    });
    expect(choice).toMatchObject({ kind: "address", address: { text: taken } });
    expect(verdicts(considered)).toEqual(expected);
  });
  it("the first of several published addresses that are still there stays", () => {
    const entries = [1, 2, 3].map((end) => entry(`2001:db8:a::${end}`, lives(7200 + end)));
    const policy = {
      device: "wan0",
      family: "ipv6",
      previousAddresses: ["2001:db8:f::9", "2001:db8:a::2", "2001:db8:a::1"],
    } as const;
    expect(chooseAddress(report([], entries), policy).choice).toMatchObject({ address: { text: "2001:db8:a::2" } });
  });
  it("for a machine behind the firewall, an address in a network with a longer lifetime is better", () => {
    const host = parseHostPart("::9");
    if (!host) throw new Error("no host part");
    const policy = { device: "wan0", family: "ipv6", host, previousAddresses: ["2001:db8:a::9"] } as const;
    const entries = [entry("2001:db8:a::1", lives(60)), entry("2001:db8:b::1", lives(7200))];
    expect(chooseAddress(report([], entries), policy).choice).toMatchObject({ address: { text: "2001:db8:b::9" } });
  });
});

describe("no address, and unknown", () => {
  it("lists the existing interfaces when the wanted one does not exist", () => {
    expect(chooseAddress(report([], []), { device: "wan", family: "ipv4" }).choice).toEqual({
      kind: "unknown-interface",
      device: "wan",
      knownDevices: ["wan0"],
    });
  });
  it("distinguishes an interface without addresses from one with only unsuitable ones", () => {
    const choose = (entries: ReportedIpv6[]) =>
      chooseAddress(report([], entries), { device: "wan0", family: "ipv6" }).choice;
    expect(choose([])).toEqual({ kind: "none", because: "no-addresses" });
    expect(choose([entry("fe80::1")])).toEqual({ kind: "none", because: "no-fit-address" });
  });
});

const anyText = fc.oneof(
  fc.ipV6(),
  fc.ipV4(),
  fc.constantFrom("fe80::1", "fd00::1", "2001:db8::7", "::", "::1", "ff02::1", "", "nonsense"),
);
const anyEntry = fc.record({
  text: anyText,
  linkLocal: fc.boolean(),
  deprecated: fc.boolean(),
  tentative: fc.boolean(),
  detached: fc.boolean(),
  validLifetime: fc.integer({ min: 0, max: 5 }),
});
const distinctLifetimes = fc.uniqueArray(anyEntry, { selector: ({ validLifetime }) => validLifetime });

describe("laws", () => {
  it("takes at most one address, which is in the report and suitable", () => {
    fc.assert(
      fc.property(fc.array(anyEntry), (entries) => {
        const { choice, considered } = chooseAddress(report([], entries), { device: "wan0", family: "ipv6" });
        const taken = considered.flatMap(({ verdict }, index) => (verdict === "taken" ? [entries[index]] : []));
        expect(considered.map(({ text }) => text)).toEqual(entries.map(({ text }) => text));
        expect(taken.length).toBe(choice.kind === "address" ? 1 : 0);
        for (const entry of taken) {
          expect(entry).toMatchObject({ linkLocal: false, deprecated: false, tentative: false, detached: false });
          expect(entry?.text).not.toMatch(/^fe[89ab][\da-f]:|^ff[\da-f]{2}:|^::1?$|^$|^nonsense$/i);
        }
      }),
    );
  });
  it("keeps the address that it took, however lifetimes of one network are renewed", () => {
    const ends = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 5 });
    const lifetimes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(ends, fc.array(lifetimes, { minLength: 1 }), (texts, renewals) => {
        const taken: string[] = [];
        for (const seconds of renewals) {
          const entries = texts.map((end, i) => entry(`2001:db8::${end}`, { validLifetime: seconds[i] ?? 1 }));
          const policy = { device: "wan0", family: "ipv6", previousAddresses: taken.slice(-1) } as const;
          const { choice } = chooseAddress(report([], entries), policy);
          taken.push(choice.kind === "address" ? choice.address.text : choice.kind);
        }
        expect(new Set(taken).size).toBe(1);
      }),
    );
  });
  it("does not depend on the order if lifetimes differ", () => {
    fc.assert(
      fc.property(
        distinctLifetimes.chain((entries) =>
          fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
        ),
        ([entries, shuffled]) => {
          const choose = (list: readonly ReportedIpv6[]) =>
            chooseAddress(report([], list), { device: "wan0", family: "ipv6" }).choice;
          expect(choose(shuffled)).toEqual(choose(entries));
        },
      ),
    );
  });
});

describe("a delegated prefix in addition to the address of the connection", () => {
  const both = report(
    [],
    [entry("2001:db8:a::7", { prefixLength: 64 }), entry("2001:db8:b::", { prefixLength: 56, delegated: true })],
  );
  const host = parseHostPart("::9");
  if (!host) throw new Error("no host part");
  const choose = (more: { readonly host?: typeof host }) => {
    const { choice, considered } = chooseAddress(both, { device: "wan0", family: "ipv6", ...more });
    return [choice.kind === "address" ? choice.address.text : undefined, verdicts(considered)];
  };

  it("is used for machines behind the router, and the connection's own network is not", () => {
    expect(choose({ host })).toEqual(["2001:db8:b::9", ["no-prefix", "taken"]]);
  });

  it("is not used as an address", () => {
    expect(choose({})).toEqual(["2001:db8:a::7", ["taken", "prefix-only"]]);
  });
});
