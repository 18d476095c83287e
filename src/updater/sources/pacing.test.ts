import { expect, it } from "vitest";
import { createPacing } from "./source-reader.ts";

it("doubles with each failure in a row, starts again after a success, and treats each key separately", () => {
  const pacing = createPacing(() => 0.5);
  pacing.failed("x", 1000);
  expect(pacing.notBefore("x", 1000)).toBe(3000);
  pacing.failed("x", 3000);
  expect(pacing.notBefore("x", 3000)).toBe(7000);
  expect(pacing.notBefore("y", 3000)).toBeUndefined();
  pacing.succeeded("x");
  expect(pacing.notBefore("x", 3000)).toBeUndefined();
  pacing.failed("x", 7000);
  expect(pacing.notBefore("x", 7000)).toBe(9000);
});

it("ignores an end that a wrong clock has moved far into the future", () => {
  const pacing = createPacing(() => 0.5);
  pacing.failed("x", 1_000_000);
  expect(pacing.notBefore("x", 0)).toBeUndefined();
});

it("rests after a success, until a check is requested or the clock is set back", () => {
  const pacing = createPacing(() => 0.5, 30_000);
  pacing.rest("x", 1_000_000, 300_000);
  expect(pacing.notBefore("x", 1_000_000)).toBe(1_300_000);
  expect(pacing.notBefore("x", 0)).toBeUndefined();
  pacing.retryNow();
  expect(pacing.notBefore("x", 1_000_000)).toBe(0);
  for (let n = 0; n < 20; n++) pacing.failed("x", 1000, undefined, 300_000);
  expect(pacing.notBefore("x", 1000)).toBeGreaterThan(31_000);
});

it("never exceeds the given maximum", () => {
  const pacing = createPacing(() => 0.999, 30_000);
  for (let n = 0; n < 20; n++) pacing.failed("x", 1000);
  expect(pacing.notBefore("x", 1000)).toBeLessThanOrEqual(31_000);
});
