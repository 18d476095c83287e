import { describe, expect, it } from "vitest";
import { type Assumed, drawDay, type Measured, needsOf, percentileOf } from "./arithmetic.ts";

/** Round numbers, so that the results can be checked by mental arithmetic. */
const assumed: Assumed = {
  names: 864_000,
  setsPerName: 2,
  changesPerDay: 1,
  busiestHour: 0.25,
  returnMinutes: 10,
  questionsPerDay: 100,
  questionPeak: 3,
  askedFor: 0.5,
  secondaries: 2,
  keepDays: 10,
  utilization: 0.5,
};
const measured: Measured = {
  bytesPerZone: 1_000,
  bytesPerChange: 500,
  secondsPerWrite: 0.001,
  secondsPerRead: 0.001,
  secondsPerColdQuestion: 0.001,
  secondsPerQuestion: 0.0001,
  secondsPerTransfer: 0.001,
  memoryAtStart: 1_000_000,
  memoryPerZone: 10,
};

describe("what many names need", () => {
  it("follows from what one costs", () => {
    expect(needsOf(assumed, measured)).toEqual({
      storeBytes: 864_000_000,
      writesPerDay: 1_728_000,
      writesPerSecond: { mean: 20, busiestHour: 120, afterOutage: 2_880 },
      logBytesPerDay: 864_000_000,
      logBytesKept: 8_640_000_000,
      questionsPerSecond: { mean: 1_000, peak: 3_000 },
      transfersPerSecond: { busiestHour: 120, afterOutage: 2_880 },
      cores: {
        writes: expect.closeTo(0.24),
        questions: expect.closeTo(0.3),
        transfers: expect.closeTo(0.12),
        all: expect.closeTo(0.66),
      },
      coresAfterOutage: expect.closeTo(8.94),
      memory: 5_320_000,
      nodes: 3,
    });
  });

  it("a day is drawn whole, and its busiest hour has more", () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const day = drawDay(200_000, 0.25, random);
    const sum = (from: number, to: number) => day.subarray(from, to).reduce((all, each) => all + each, 0);
    expect(sum(0, 86_400)).toBe(200_000);
    // A quarter of all changes, and this hour's share of the evenly spread rest.
    expect(sum(4 * 3_600, 5 * 3_600) / 200_000).toBeCloseTo(0.25 + 0.75 / 24, 1);
    expect(percentileOf(Uint32Array.of(5, 1, 3), 0.5)).toBe(3);
    expect(percentileOf(Uint32Array.of(5, 1, 3), 1)).toBe(5);
  });
});
