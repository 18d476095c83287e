import { describe, expect, it } from "vitest";
import { FailureDelay } from "./failure-delay.ts";

const limits = { free: 2, first: 1_000, longest: 5_000, memory: 60_000, most: 2 };

describe("a delay after failures", () => {
  const delayAfter = (failures: number, now = 0) => {
    const delay = new FailureDelay(limits);
    for (let i = 0; i < failures; i++) delay.failed("a", now);
    return delay;
  };

  it.each([
    [0, 0],
    [1, 0],
    [2, 1_000],
    [3, 2_000],
    [4, 4_000],
    [5, 5_000],
    [50, 5_000],
  ])("of %i failures is %i ms", (failures, wait) => expect(delayAfter(failures).wait("a", 0)).toBe(wait));

  it("passes, and ends with a success", () => {
    const delay = delayAfter(3);
    expect([delay.wait("a", 1_500), delay.wait("a", 2_000), delay.wait("b", 0)]).toEqual([500, 0, 0]);
    delay.succeeded("a");
    expect(delay.wait("a", 0)).toBe(0);
  });

  it("is forgotten after a while, also if the clock was set back", () => {
    expect([delayAfter(9).wait("a", 60_001), delayAfter(9, 100_000).wait("a", 0)]).toEqual([0, 0]);
  });

  it("is kept for a limited number of keys", () => {
    const delay = delayAfter(2);
    for (const other of ["b", "c"]) delay.failed(other, 0);
    expect(delay.wait("a", 0)).toBe(0);
  });
});
