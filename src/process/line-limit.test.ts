import { expect, it } from "vitest";
import { createLineLimit } from "./log.ts";

function rig() {
  const clock = { now: 10 * 3_600_000 };
  const skipped: number[] = [];
  let written = 0;
  const few = createLineLimit(
    () => clock.now,
    (more) => skipped.push(more),
  );
  const write = (times: number) => {
    for (let i = 0; i < times; i++) few(() => void written++);
    return written;
  };
  return { clock, skipped, write };
}

it("writes sixty lines per minute, and then reports how many it skipped", () => {
  const { clock, skipped, write } = rig();
  expect(write(100)).toBe(60);
  clock.now += 59_999;
  expect(write(1)).toBe(60);
  clock.now += 1;
  expect(write(1)).toBe(61);
  expect(skipped).toEqual([41]);
});

it("writes again immediately after the clock was set back", () => {
  const { clock, write } = rig();
  write(60);
  clock.now -= 3_600_000;
  expect(write(1)).toBe(61);
});
