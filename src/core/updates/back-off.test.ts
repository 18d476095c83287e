import fc from "fast-check";
import { expect, it } from "vitest";
import { backOffDelay, jittered } from "./back-off.ts";

const random = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

it("the delay stays below the cap, and below a bound that doubles with each failure in a row", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), random, (failures, r) => {
      const delay = backOffDelay(failures, r, { base: 2_000, cap: 300_000 });
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(Math.min(300_000, 2_000 * 2 ** failures));
    }),
  );
});

it("the delay is 0 while nothing has failed", () => {
  expect(backOffDelay(0, 0.999, { base: 2_000, cap: 300_000 })).toBe(0);
});

it("the delay can be anywhere below its bound", () => {
  expect(backOffDelay(1, 0.5, { base: 2_000, cap: 300_000 })).toBe(2_000);
  expect(backOffDelay(20, 0.999, { base: 2_000, cap: 300_000 })).toBe(299_700);
});

it("an interval is jittered by up to 10%", () => {
  expect([0, 0.5, 1].map((r) => jittered(30_000, r))).toEqual([27_000, 30_000, 33_000]);
});
