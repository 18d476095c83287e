import { describe, expect, it } from "vitest";
import { heapInUse } from "../../test/rig/heap-in-use.ts";
import { createThrottle } from "./session-throttle.ts";

const failTimes = (
  throttle: ReturnType<typeof createThrottle>,
  count: number,
  name: string,
  source: string,
  now = 0,
) => {
  for (let i = 0; i < count; i++) throttle.failed(name, source, now);
};

describe("guessing passwords", () => {
  it("is free a few times, then the delay doubles each time, up to 15 minutes", () => {
    const throttle = createThrottle();
    const waits = Array.from({ length: 16 }, () => {
      throttle.failed("anna", "192.0.2.1", 0);
      return throttle.wait("anna", "192.0.2.1", 0);
    });
    expect(waits.slice(0, 8)).toEqual([0, 0, 0, 0, 2_000, 4_000, 8_000, 16_000]);
    expect(waits.at(-1)).toBe(900_000);
  });

  it("never waits longer than its delay if the clock is set back, and is forgotten if it is set back by hours", () => {
    const throttle = createThrottle();
    const hour = 60 * 60_000;
    failTimes(throttle, 6, "anna", "192.0.2.1", 10 * hour);
    expect(throttle.wait("anna", "192.0.2.1", 9 * hour)).toBe(4_000);
    expect(throttle.wait("anna", "192.0.2.1", 2 * hour)).toBe(0);
    throttle.failed("anna", "192.0.2.1", 2 * hour);
    expect(throttle.wait("anna", "192.0.2.1", 2 * hour)).toBe(0);
  });

  it("counts names by their first characters", () => {
    const throttle = createThrottle();
    for (let i = 0; i < 6; i++) throttle.failed(`${"x".repeat(60_000)}${i}`, "192.0.2.1", 0);
    expect(throttle.wait("x".repeat(60_000), "192.0.2.1", 0)).toBe(4_000);
  });

  it("does not fill the memory with long names", () => {
    const throttle = createThrottle();
    const before = heapInUse();
    for (let i = 0; i < 400; i++) throttle.failed(JSON.parse(`"${i}${"x".repeat(60_000)}"`), "192.0.2.1", 0);
    expect(heapInUse() - before).toBeLessThan(4_000_000);
    expect(throttle.wait("anna", "192.0.2.1", 0)).toBeGreaterThan(0);
  });

  it("does not block the same name from elsewhere, or other names from the same source", () => {
    const throttle = createThrottle();
    failTimes(throttle, 20, "anna", "192.0.2.1");
    expect(throttle.wait("anna", "192.0.2.2", 0)).toBe(0);
    expect(throttle.wait("bert", "192.0.2.1", 0)).toBe(0);
  });

  it("with many names from one source is delayed too, even from another address of the same IPv6 network", () => {
    const throttle = createThrottle();
    for (let i = 0; i < 40; i++) throttle.failed(`name ${i}`, `2001:db8:1:2::${i.toString(16)}`, 0);
    expect(throttle.wait("anna", "2001:db8:1:2::ffff", 0)).toBeGreaterThan(0);
    expect(throttle.wait("anna", "2001:db8:1:3::1", 0)).toBe(0);
  });

  it("with one name is delayed from any address of an IPv6 network, however it is written", () => {
    const throttle = createThrottle();
    for (let i = 1; i <= 10; i++) throttle.failed("anna", `fd00::${i.toString(16)}:2:3:4`, 0);
    expect(throttle.wait("anna", "fd00::5", 0)).toBeGreaterThan(0);
  });

  it("is forgotten after a success, and after an hour", () => {
    const throttle = createThrottle();
    failTimes(throttle, 6, "anna", "192.0.2.1");
    throttle.succeeded("anna", "192.0.2.1");
    expect(throttle.wait("anna", "192.0.2.1", 0)).toBe(0);
    failTimes(throttle, 20, "anna", "192.0.2.1");
    expect(throttle.wait("anna", "192.0.2.1", 3_600_001)).toBe(0);
  });

  it("is delayed from the last wrong guess on, and starts over an hour after it", () => {
    const throttle = createThrottle();
    const start = Date.parse("2026-11-15T12:00:00Z");
    failTimes(throttle, 7, "anna", "192.0.2.1", start);
    expect(throttle.wait("anna", "192.0.2.1", start + 3_000)).toBe(5_000);
    expect(throttle.wait("anna", "192.0.2.1", start + 9_000)).toBe(0);
    throttle.failed("anna", "192.0.2.1", start + 3_600_000);
    expect(throttle.wait("anna", "192.0.2.1", start + 3_600_000)).toBe(16_000);
    throttle.failed("anna", "192.0.2.1", start + 7_200_001);
    expect(throttle.wait("anna", "192.0.2.1", start + 7_200_001)).toBe(0);
  });

  it("is remembered for a bounded number of sources, the latest", () => {
    const throttle = createThrottle();
    failTimes(throttle, 6, "anna", "192.0.2.1");
    failTimes(throttle, 6, "bert", "192.0.2.2");
    for (let i = 0; i < 9_999; i++) {
      throttle.failed("x", `10.0.${i >> 8}.${i & 255}`, 0);
      if (i === 5_000) throttle.failed("anna", "192.0.2.1", 0);
    }
    expect(throttle.wait("anna", "192.0.2.1", 0)).toBe(8_000);
    expect(throttle.wait("bert", "192.0.2.2", 0)).toBe(0);
  });
});
