import { beforeEach, describe, expect, it } from "vitest";
import type { TargetFault } from "../targets/target.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";

let now: number;
let breaker: CircuitBreaker;
beforeEach(() => {
  now = 1_800_000_000_000;
  breaker = createCircuitBreaker(
    () => now,
    () => 0.5,
  );
});

const fault = (more: Partial<TargetFault> = {}): TargetFault => ({
  kind: "later",
  because: "500",
  todo: "wait",
  ofService: true,
  ...more,
});
const down = fault();
const fail = (names: string, why = down) => names.split("").map((name) => breaker.failed(name, why));
const wait = () => {
  const { until } = breaker.waiting() ?? {};
  return until === undefined ? undefined : until - now;
};
/** The back-offs of probes that fail one after the other. */
const probes = (times: number, why = down) =>
  Array.from({ length: times }, () => {
    now += Math.max(0, wait() ?? 0);
    breaker.probe("p");
    breaker.failed("p", why);
    return wait();
  });

describe("the circuit", () => {
  it("opens after four names failed in a row; until then, each name waits alone", () => {
    expect(fail("abc")).toEqual(Array(3).fill({ longest: 10_000 }));
    expect(wait()).toBeUndefined();
    expect(fail("d")).toEqual([undefined]);
    expect(wait()).toBe(2_000);
  });

  it("stays closed if one name fails again and again, or others succeed in between", () => {
    fail("aaaa");
    expect(wait()).toBeUndefined();
    for (const name of "bcdefg") {
      fail(name);
      breaker.succeeded("ok");
    }
    expect(wait()).toBeUndefined();
  });

  it("closes with the first success, and returns the names that may try again", () => {
    fail("abcd");
    expect(breaker.succeeded("a")).toEqual(["b", "c", "d"]);
    expect(wait()).toBeUndefined();
  });

  it("opens later if names have failed while the service worked for others", () => {
    fail("abcdef");
    breaker.succeeded("ok");
    expect(fail("abcdef")).toEqual(Array(6).fill({ longest: 300_000 }));
    fail("vwxyz");
    expect(wait()).toBeUndefined();
    fail("u");
    expect(wait()).toBeDefined();
    for (const name of "abcdefuvwxyz") breaker.succeeded(name);
    fail("abcd");
    expect(wait()).toBeDefined();
  });

  it.each([
    ["a 429 without Retry-After", fault({ throttled: true })],
    ["a Retry-After", fault({ retryAfter: 60_000 })],
  ])("opens immediately after %s", (_, why) => {
    expect(fail("a", why)).toEqual([undefined]);
    expect(wait()).toBeDefined();
  });
});

describe("a probe", () => {
  const begin = () => {
    fail("abcd");
    now += wait() ?? 0;
    breaker.probe("p");
    expect(wait()).toBe(100_000);
  };

  it("that fails ends the wait of the others, even if a name failed meanwhile that was under way before", () => {
    begin();
    fail("ef");
    expect(wait()).toBe(100_000);
    fail("p");
    expect(wait()).toBe(4_000);
  });

  it("that fails counts, even if that name failed before while the service worked", () => {
    fail("p");
    breaker.succeeded("ok");
    begin();
    expect(fail("p")).toEqual([undefined]);
    expect(wait()).toBe(4_000);
  });

  it("that showed nothing about the service lets another name try", () => {
    begin();
    breaker.ended("a");
    expect(wait()).toBe(100_000);
    breaker.ended("p");
    expect(wait()).toBe(0);
  });

  it("whose failure is known already changes nothing when it ends", () => {
    begin();
    fail("p");
    breaker.ended("p");
    expect(wait()).toBe(4_000);
  });
});

describe("the back-off", () => {
  it.each([
    ["is short, so that the end of an outage is noticed within seconds", down, [4_000, 5_000, 5_000, 5_000]],
    [
      "grows from ten seconds after each 429 without Retry-After",
      fault({ throttled: true }),
      [21_000, 42_000, 84_000, 168_000, 315_000, 315_000],
    ],
  ])("%s", (_, why, delays) => {
    fail("abcd", why);
    expect(probes(delays.length, why)).toEqual(delays);
  });

  it("is ten seconds after the first 429 of an outage, however many other failures there were before", () => {
    fail("abcd");
    probes(5);
    expect([...probes(1, fault({ throttled: true })), ...probes(1)]).toEqual([10_500, 5_000]);
    expect(probes(1, fault({ throttled: true }))).toEqual([21_000]);
  });

  it.each([
    ["a minute", 60_000, down, 5_000],
    ["a minute, of rejected credentials", 60_000, fault({ kind: "unauthorised" }), 7_500],
    ["ten minutes, of rejected credentials", 600_000, fault({ kind: "unauthorised" }), 75_000],
    ["hours", 36_000_000, down, 30_000],
    ["hours, of rejected credentials", 36_000_000, fault({ kind: "unauthorised" }), 150_000],
  ])("in an outage of %s is at most twice this", (_, length, why, delay) => {
    const end = now + length;
    fail("abcd", why);
    while (now + (wait() ?? 0) < end) probes(1, why);
    now = end;
    breaker.probe("p");
    breaker.failed("p", why);
    expect(wait()).toBe(delay);
  });

  it("does not grow with writes that were under way when another failed", () => {
    fail("abcdefgh");
    expect(wait()).toBe(2_000);
  });

  it("lasts until the probe has ended, and ends when someone asks, or when the clock is set back", () => {
    fail("abcd");
    now += 2_000;
    expect(wait()).toBe(0);
    breaker.probe("e");
    fail("f");
    expect(wait()).toBeGreaterThan(90_000);
    breaker.retryNow();
    expect(wait()).toBeLessThanOrEqual(0);
    fail("e");
    expect(wait()).toBeGreaterThan(0);
    now -= 86_400_000;
    expect(wait()).toBeLessThanOrEqual(0);
  });
});
