import { describe, expect, test } from "vitest";
import { parseAddress } from "../addresses/address.ts";
import type { Choice } from "../addresses/choose-address.ts";
import { planUpdate, type UpdateFacts, type UpdatePlan } from "./plan-update.ts";

const now = Date.parse("2026-11-15T12:00:00Z");

function chosen(text: string): Choice {
  const address = parseAddress(text);
  if (!address) throw new Error(`not an address: ${text}`);
  return { kind: "address", address };
}

const backOff = (until: number) => ({ until, because: "back-off" }) as const;

const cases: [string, Partial<UpdateFacts> & { choice: Choice }, UpdatePlan["kind"], Partial<UpdatePlan>?][] = [
  ["the very first address", { choice: chosen("9.9.9.9") }, "replace"],
  ["not the stored address", { choice: chosen("9.9.9.9"), stored: "9.9.9.8" }, "replace"],
  ["the stored address", { choice: chosen("9.9.9.9"), stored: "9.9.9.9" }, "nothing", { because: "same-as-stored" }],
  [
    "the address could not be read",
    { choice: { kind: "unknown", because: "down" } },
    "nothing",
    { because: "unknown" },
  ],
  [
    "interface is gone",
    { choice: { kind: "unknown-interface", device: "wan0", knownDevices: [] }, stored: "9.9.9.9" },
    "nothing",
    { because: "unknown" },
  ],
  [
    "no address now",
    { choice: { kind: "none", because: "no-addresses" }, stored: "9.9.9.9" },
    "nothing",
    { because: "no-address" },
  ],
  [
    "asked to wait",
    { choice: chosen("9.9.9.9"), notBefore: backOff(now + 1) },
    "wait",
    { until: now + 1, because: "back-off" },
  ],
  ["waited long enough", { choice: chosen("9.9.9.9"), notBefore: backOff(now) }, "replace"],
  [
    "same as stored needs no waiting",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", notBefore: backOff(now + 1) },
    "nothing",
    { because: "same-as-stored" },
  ],
  ["loopback", { choice: chosen("127.0.0.1") }, "nothing", { because: "not-publishable" }],
  ["unspecified", { choice: chosen("0.0.0.0") }, "nothing", { because: "not-publishable" }],
  ["link-local", { choice: chosen("fe80::1"), family: "ipv6" }, "nothing", { because: "not-publishable" }],
  ["multicast", { choice: chosen("ff02::1"), family: "ipv6" }, "nothing", { because: "not-publishable" }],
  ["wrong family", { choice: chosen("2a00::1"), family: "ipv4" }, "nothing", { because: "not-publishable" }],
  ["private: written, with a warning", { choice: chosen("10.1.2.3") }, "replace", { warning: "private" }],
  ["carrier's NAT", { choice: chosen("100.64.0.1") }, "replace", { warning: "cgnat" }],
  ["ULA", { choice: chosen("fd00::1"), family: "ipv6" }, "replace", { warning: "ula" }],
  ["documentation", { choice: chosen("203.0.113.7") }, "replace", { warning: "documentation" }],
  [
    "private, but public addresses are required",
    { choice: chosen("10.1.2.3"), rules: { public: "require" } },
    "nothing",
    { because: "not-publishable" },
  ],
  [
    "ULA, but public addresses are required",
    { choice: chosen("fd00::1"), family: "ipv6", rules: { public: "require" } },
    "nothing",
    { because: "not-publishable" },
  ],
  [
    "carrier's NAT, but public addresses are required",
    { choice: chosen("100.64.0.1"), rules: { public: "require" } },
    "nothing",
    { because: "not-publishable" },
  ],
  [
    "documentation, but public addresses are required",
    { choice: chosen("203.0.113.7"), rules: { public: "require" } },
    "nothing",
    { because: "not-publishable" },
  ],
  ["public, and public addresses are required", { choice: chosen("9.9.9.9"), rules: { public: "require" } }, "replace"],
  ["paused, whatever is wanted", { choice: chosen("9.9.9.9"), paused: true }, "nothing", { because: "paused" }],
  [
    "paused, even to verify",
    { choice: chosen("9.9.9.9"), paused: true, verifyDue: true },
    "nothing",
    { because: "paused" },
  ],
  ["not the master", { choice: chosen("9.9.9.9"), isMaster: false }, "nothing", { because: "not-master" }],
  ["the master", { choice: chosen("9.9.9.9"), isMaster: true }, "replace"],
  [
    "compared with the record, other than stored",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { compare: "record" } },
    "compare",
  ],
  [
    "compared with the record, as stored",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", rules: { compare: "record" } },
    "compare",
  ],
  ["time to verify", { choice: chosen("9.9.9.9"), stored: "9.9.9.9", verifyDue: true }, "compare"],
  ["another TTL", { choice: chosen("9.9.9.9"), stored: "9.9.9.9", ttlChanged: true }, "compare"],
  ["another TTL and another address", { choice: chosen("9.9.9.9"), stored: "9.9.9.8", ttlChanged: true }, "replace"],
  [
    "another TTL, but asked to wait",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", ttlChanged: true, notBefore: backOff(now + 5) },
    "wait",
  ],
  [
    "another TTL is not held down",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", ttlChanged: true, rules: { holdDown: 100 }, steadySince: now },
    "compare",
  ],
  [
    "another TTL, but no address",
    { choice: { kind: "none", because: "no-addresses" }, stored: "9.9.9.9", ttlChanged: true },
    "nothing",
  ],
  [
    "time to verify, but another is wanted",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", verifyDue: true },
    "replace",
  ],
  [
    "time to verify, but asked to wait",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", verifyDue: true, notBefore: backOff(now + 5) },
    "wait",
  ],
  [
    "the address has not been there for long",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { holdDown: 100 }, steadySince: now - 99 },
    "wait",
    { until: now + 1, because: "hold-down" },
  ],
  [
    "the address has been there for long enough",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { holdDown: 100 }, steadySince: now - 100 },
    "replace",
  ],
  [
    "the very first is not held down",
    { choice: chosen("9.9.9.9"), rules: { holdDown: 100 }, steadySince: now },
    "replace",
  ],
  [
    "the stored one is not held down",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", verifyDue: true, rules: { holdDown: 100 }, steadySince: now },
    "compare",
  ],
  [
    "held down, and the clock was set back",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { holdDown: 100 }, steadySince: now + 9_999 },
    "wait",
    { until: now + 100 },
  ],
  [
    "as many changes as allowed",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { changesPerHour: 2 }, changes: [now - 900, now - 500] },
    "wait",
    { until: now - 900 + 3_600_000, because: "cap" },
  ],
  [
    "one change less than allowed",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { changesPerHour: 3 }, changes: [now - 900, now - 500] },
    "replace",
  ],
  [
    "a change at this very moment counts",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { changesPerHour: 1 }, changes: [now] },
    "wait",
    { until: now + 3_600_000, because: "cap" },
  ],
  [
    "a change an hour ago no longer counts",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { changesPerHour: 1 }, changes: [now - 3_600_000] },
    "replace",
  ],
  [
    "changes in the future do not count",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.8", rules: { changesPerHour: 1 }, changes: [now + 900] },
    "replace",
  ],
];

describe("when an update is sent", () => {
  test.each(cases)("%s", (_, facts, kind, more = {}) => {
    const plan = planUpdate({ family: "ipv4", stored: undefined, notBefore: undefined, now, ...facts });
    expect(plan).toMatchObject({ kind, ...more });
    if (kind === "replace" && !("warning" in more)) expect(plan).not.toHaveProperty("warning");
  });
});
