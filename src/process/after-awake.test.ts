import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { standStill } from "../../test/rig/stand-still.ts";
import { afterAwake } from "./after-awake.ts";

it("does not count the time for which the process stood still, and comes all the same", async () => {
  let isOver = false;
  afterAwake(400, () => {
    isOver = true;
  });
  standStill(1_000);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(isOver).toBe(false);
  await expect.poll(() => isOver).toBe(true);
});

it.each([1, 30, 2_500])("does not come before %d ms", async (ms) => {
  const before = performance.now();
  await new Promise<void>((resolve) => afterAwake(ms, resolve));
  // Timers count whole milliseconds, from the turn that they are set in.
  expect(performance.now() - before).toBeGreaterThan(ms - 10);
});

it("does not come when it was called off", async () => {
  let isOver = false;
  const callOff = afterAwake(20, () => {
    isOver = true;
  });
  callOff();
  await new Promise<void>((resolve) => afterAwake(100, resolve));
  expect(isOver).toBe(false);
});
