import fc from "fast-check";
import { expect, it } from "vitest";
import { backOffDelay, jittered, RetryDelay } from "./back-off.ts";

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

it("a delay that follows the trouble is at most half of what it has lasted, however often it was tried", () => {
  const tries = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(tries, random, (pauses, r) => {
      const retry = new RetryDelay({ shortest: 500, longest: 30_000 });
      let now = 1_000_000;
      const begun = now + (pauses[0] ?? 0);
      for (const pause of pauses) retry.failed((now += pause), r);
      expect(retry.wait(now)).toBeGreaterThanOrEqual(500);
      expect(retry.wait(now)).toBeLessThanOrEqual(Math.min(33_000, Math.max(550, (now - begun) * 0.55 + 1)));
      expect(retry.worked()).toBe(true);
      expect([retry.wait(now), retry.worked()]).toEqual([0, false]);
    }),
  );
});
