import { describe, expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import type { Choice } from "./choose-address.ts";
import { type Plan, planUpdate, type UpdateFacts } from "./plan-update.ts";

const now = 1_000_000;

function chosen(text: string): Choice {
  const address = parseAddress(text);
  if (!address) throw new Error(`not an address: ${text}`);
  return { kind: "address", address };
}

const cases: [string, Partial<UpdateFacts> & { choice: Choice }, Plan["kind"], Partial<Plan>?][] = [
  ["first address ever", { choice: chosen("9.9.9.9") }, "replace"],
  ["another than stored", { choice: chosen("9.9.9.9"), stored: "9.9.9.8" }, "replace"],
  ["the stored one", { choice: chosen("9.9.9.9"), stored: "9.9.9.9" }, "nothing", { because: "same-as-stored" }],
  ["could not read", { choice: { kind: "unknown", because: "down" } }, "nothing", { because: "unknown" }],
  [
    "interface is gone",
    { choice: { kind: "unknown-interface", device: "wan0", known: [] }, stored: "9.9.9.9" },
    "nothing",
    { because: "unknown" },
  ],
  [
    "no address now",
    { choice: { kind: "none", because: "no-addresses" }, stored: "9.9.9.9" },
    "nothing",
    { because: "no-address" },
  ],
  ["asked to wait", { choice: chosen("9.9.9.9"), notBefore: now + 1 }, "wait", { until: now + 1 }],
  ["waited long enough", { choice: chosen("9.9.9.9"), notBefore: now }, "replace"],
  [
    "same as stored needs no waiting",
    { choice: chosen("9.9.9.9"), stored: "9.9.9.9", notBefore: now + 1 },
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
];

describe("when an update is sent (spec 4.7)", () => {
  test.each(cases)("%s", (_, facts, kind, more = {}) => {
    const plan = planUpdate({ family: "ipv4", stored: undefined, notBefore: undefined, now, ...facts });
    expect(plan).toMatchObject({ kind, ...more });
    if (kind === "replace" && !("warning" in more)) expect(plan).not.toHaveProperty("warning");
  });
});
