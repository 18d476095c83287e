import fc from "fast-check";
import { expect, it } from "vitest";
import { backOffDelay, jittered } from "./back-off.ts";

const random = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

it("stays below the cap and below twice the base for each failure in a row", () => {
  fc.assert(
    fc.property(fc.nat(100_000), random, (failures, r) => {
      const delay = backOffDelay(failures, r, { base: 2_000, cap: 300_000 });
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(Math.min(300_000, failures === 0 ? 0 : 2_000 * 2 ** Math.min(failures, 60)));
    }),
  );
});

it("uses the whole range", () => {
  expect(backOffDelay(1, 0.5, { base: 2_000, cap: 300_000 })).toBe(2_000);
  expect(backOffDelay(20, 0.999, { base: 2_000, cap: 300_000 })).toBe(299_700);
});

it("jitters an interval by a tenth at most", () => {
  fc.assert(fc.property(random, (r) => Math.abs(jittered(30_000, r) - 30_000) <= 3_000));
});
