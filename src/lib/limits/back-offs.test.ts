import { expect, it } from "vitest";
import { BackOffs } from "./failure-delay.ts";

it("doubles with each failure in a row, starts again after a success, and treats each key separately", () => {
  const backOffs = new BackOffs(() => 0.5);
  backOffs.failed("x", 1000);
  expect(backOffs.notBefore("x", 1000)).toBe(3000);
  backOffs.failed("x", 3000);
  expect(backOffs.notBefore("x", 3000)).toBe(7000);
  expect(backOffs.notBefore("y", 3000)).toBeUndefined();
  backOffs.succeeded("x");
  expect(backOffs.notBefore("x", 3000)).toBeUndefined();
  backOffs.failed("x", 7000);
  expect(backOffs.notBefore("x", 7000)).toBe(9000);
});

it("ignores an end that a wrong clock has moved far into the future", () => {
  const backOffs = new BackOffs(() => 0.5);
  backOffs.failed("x", 1_000_000);
  expect(backOffs.notBefore("x", 0)).toBeUndefined();
});

it("rests after a success, until a check is requested or the clock is set back", () => {
  const backOffs = new BackOffs(() => 0.5, 30_000);
  backOffs.pauseFor("x", 1_000_000, 300_000);
  expect(backOffs.notBefore("x", 1_000_000)).toBe(1_300_000);
  expect(backOffs.notBefore("x", 0)).toBeUndefined();
  backOffs.retryNow();
  expect(backOffs.notBefore("x", 1_000_000)).toBe(0);
  for (let n = 0; n < 20; n++) backOffs.failed("x", 1000, undefined, 300_000);
  expect(backOffs.notBefore("x", 1000)).toBeGreaterThan(31_000);
});

it("never exceeds the given maximum", () => {
  const backOffs = new BackOffs(() => 0.999, 30_000);
  for (let n = 0; n < 20; n++) backOffs.failed("x", 1000);
  expect(backOffs.notBefore("x", 1000)).toBeLessThanOrEqual(31_000);
});
