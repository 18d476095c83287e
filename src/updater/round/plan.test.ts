import { describe, expect, it, test } from "vitest";
import type { ReportedInterface } from "../../core/addresses/interface-report.ts";
import type { UpdatePlan } from "../../core/updates/plan-update.ts";
import type { NameRules } from "../config/rules.ts";
import type { SourceReading } from "../sources/source.ts";
import type { ManagedRecord } from "./managed-records.ts";
import type { StoredAddress } from "./merge-state.ts";
import { NameMemory } from "./name-memory.ts";
import { planRound } from "./plan.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const minute = 60_000;

const recordWith = (rules: NameRules): ManagedRecord => ({
  key: "home A",
  displayName: "home.example.org A",
  family: "ipv4",
  source: "office",
  kindLabel: "firewall",
  target: "dns",
  rules,
  policy: { devices: ["wan0"], family: "ipv4" },
  choiceKey: "wan0",
  spec: { zone: "example.org", name: "home", family: "ipv4" },
});

const reading = (...links: readonly ReportedInterface[]): SourceReading => ({
  kind: "report",
  report: new Map(links.map((link) => [link.device, link])),
});
const reportOf = (address: string, carp: readonly (readonly [string, string])[] = []): SourceReading =>
  reading({ device: "wan0", ipv4: [{ text: address }], ipv6: [], carp: new Map(carp) });

type Given = { rules?: NameRules; stored?: StoredAddress; memory?: NameMemory; at?: number };

function plan(read: SourceReading, { rules = {}, stored, memory = new NameMemory(), at = now }: Given = {}) {
  const [planned] = planRound([recordWith(rules)], {
    memory,
    now: at,
    notBefore: () => undefined,
    readings: new Map([["office", read]]),
    state: { get: () => stored },
  });
  if (planned === undefined) throw new Error("nothing was planned");
  return planned;
}

const storedBefore = (ago: number, more: Partial<StoredAddress> = {}): StoredAddress => ({
  address: "9.9.9.9",
  storedAt: new Date(now - ago).toISOString(),
  ...more,
});

describe("what a round plans for a name", () => {
  const verify = 60 * minute;
  const master = { carpMaster: "1" };
  const cases: [string, SourceReading, Given, Partial<UpdatePlan>][] = [
    ["is nothing for the stored address", reportOf("9.9.9.9"), { stored: storedBefore(0) }, { kind: "nothing" }],
    ["is a write for another address", reportOf("9.9.9.8"), { stored: storedBefore(0) }, { kind: "replace" }],
    [
      "is a write for the stored address if it is in doubt",
      reportOf("9.9.9.9"),
      { stored: storedBefore(0, { inDoubt: true }) },
      { kind: "replace" },
    ],
    ["is a write on the CARP master", reportOf("9.9.9.9", [["1", "MASTER"]]), { rules: master }, { kind: "replace" }],
    [
      "is nothing on the CARP backup",
      reportOf("9.9.9.9", [["1", "BACKUP"]]),
      { rules: master },
      { kind: "nothing", because: "not-master" },
    ],
    [
      "is nothing if the master is unknown",
      reportOf("9.9.9.9", [["2", "MASTER"]]),
      { rules: master },
      { kind: "nothing", because: "not-master" },
    ],
    [
      "is nothing if the address was stored recently",
      reportOf("9.9.9.9"),
      { rules: { verify }, stored: storedBefore(verify - 1) },
      { kind: "nothing" },
    ],
    [
      "is a comparison if it was stored long ago",
      reportOf("9.9.9.9"),
      { rules: { verify }, stored: storedBefore(verify) },
      { kind: "compare" },
    ],
    [
      "is a comparison if it was stored in the future",
      reportOf("9.9.9.9"),
      { rules: { verify }, stored: storedBefore(-1) },
      { kind: "compare" },
    ],
  ];
  test.each(cases)("%s", (_, read, given, expected) => expect(plan(read, given).plan).toMatchObject(expected));

  it("is nothing if the record was read recently", () => {
    const memory = new NameMemory();
    memory.verified("home A", now - verify + 1);
    const given = { rules: { verify }, stored: storedBefore(9 * verify), memory };
    expect(plan(reportOf("9.9.9.9"), given).plan.kind).toBe("nothing");
    expect(plan(reportOf("9.9.9.9"), { ...given, at: now + 1 }).plan.kind).toBe("compare");
  });

  it("waits for holdDown from when the address was first seen without a break", () => {
    const given = {
      rules: { holdDown: minute },
      stored: storedBefore(0, { address: "9.9.9.1" }),
      memory: new NameMemory(),
    };
    const planAt = (address: string, at: number) => plan(reportOf(address), { ...given, at: now + at }).plan;
    expect(planAt("9.9.9.9", 0)).toMatchObject({ kind: "wait", until: now + minute });
    expect(planAt("9.9.9.9", minute - 1)).toMatchObject({ kind: "wait", until: now + minute });
    expect(planAt("0.0.0.0", minute - 1)).toMatchObject({ kind: "nothing" });
    expect(planAt("9.9.9.9", minute)).toMatchObject({ kind: "wait", until: now + 2 * minute });
    expect(planAt("9.9.9.9", 2 * minute)).toMatchObject({ kind: "replace" });
  });

  it("is nothing, with what to do, if the address is unknown", () => {
    const unavailable = { kind: "unavailable", because: "it is down", todo: "start it" } as const;
    expect(plan(unavailable)).toMatchObject({
      plan: { kind: "nothing", because: "unknown" },
      device: "wan0",
      choice: { because: "it is down" },
      trouble: { because: "it is down", todo: "start it" },
    });
    const gone = "the firewall office has no interface wan0";
    expect(plan(reading({ device: "lan0", ipv4: [], ipv6: [] }))).toMatchObject({
      plan: { kind: "nothing" },
      trouble: { because: gone, todo: "its interfaces are lan0" },
    });
    expect(plan(reading())).toMatchObject({ trouble: { because: gone, todo: "it reports no interfaces" } });
    expect(plan(reportOf("9.9.9.9"))).not.toHaveProperty("trouble");
  });

  describe("with two addresses of one network, whatever their lifetimes", () => {
    const pair: SourceReading = reading({
      device: "wan0",
      ipv4: [],
      ipv6: [
        ["2a00::1", 60],
        ["2a00::2", 7200],
      ].map(([text, validLifetime]) => ({
        linkLocal: false,
        deprecated: false,
        tentative: false,
        detached: false,
        ...({ text, validLifetime } as { text: string; validLifetime: number }),
      })),
    });
    const named = (name: string, rules: NameRules = {}): ManagedRecord => ({
      ...recordWith(rules),
      key: name,
      family: "ipv6",
      policy: { devices: ["wan0"], family: "ipv6" },
    });
    const addresses = (records: readonly ManagedRecord[], stored: Readonly<Record<string, string>>) =>
      planRound(records, {
        memory: new NameMemory(),
        now,
        notBefore: () => undefined,
        readings: new Map([["office", pair]]),
        state: { get: (key) => (stored[key] ? storedBefore(0, { address: stored[key] }) : undefined) },
      }).map(({ choice }) => (choice.kind === "address" ? choice.address.text : choice.kind));

    it("uses the same one for all names: the one published for the first name that has one", () => {
      const records = [named("new"), named("old"), named("other")];
      expect(addresses(records, { old: "2a00::1", other: "2a00::2" })).toEqual(["2a00::1", "2a00::1", "2a00::1"]);
    });
    it("uses the same one for two clients of one record, whatever each has stored", () => {
      const shared = [named("shared", { compare: "record" })];
      expect(addresses(shared, { shared: "2a00::1" })).toEqual(["2a00::2"]);
    });
  });
});
