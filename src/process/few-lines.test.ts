import { expect, it } from "vitest";
import { createFewLines } from "./few-lines.ts";

function rig() {
  const clock = { now: 10 * 3_600_000 };
  const told: number[] = [];
  let written = 0;
  const few = createFewLines(
    () => clock.now,
    (more) => told.push(more),
  );
  const write = (times: number) => {
    for (let i = 0; i < times; i++) few(() => void written++);
    return written;
  };
  return { clock, told, write };
}

it("writes sixty lines a minute, and then how many more there were", () => {
  const { clock, told, write } = rig();
  expect(write(100)).toBe(60);
  clock.now += 59_999;
  expect(write(1)).toBe(60);
  clock.now += 1;
  expect(write(1)).toBe(61);
  expect(told).toEqual([41]);
});

it("is not silent until a clock that was put back has caught up", () => {
  const { clock, write } = rig();
  write(60);
  clock.now -= 3_600_000;
  expect(write(1)).toBe(61);
});
