import { expect, it } from "vitest";
import { monthOf, nearest } from "./month.ts";

const now = Date.UTC(2026, 10, 30);
const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString();
const move = (days: number) => ({ at: daysAgo(days), type: "A", address: `203.0.113.${days}` }) as const;

it("places changes between 30 days ago and now, and leaves out older ones", () => {
  const { ticks } = monthOf([move(31), move(30), move(15), move(0)], null, now);
  expect(ticks.map(({ place }) => place)).toEqual([0.5, 1]);
});

it.for([
  [null, 0],
  [daysAgo(45), 0],
  [daysAgo(3), 0.9],
] as const)("a history since %s is known from %d", ([since, from]) => {
  expect(monthOf([], since, now).knownFrom).toBeCloseTo(from);
});

it("a change that the clock of the browser does not know yet is now", () => {
  expect(monthOf([move(-1)], null, now).ticks[0]?.place).toBe(1);
});

it.for<[place: number, found: number]>([
  [0, 0],
  [0.6, 0],
  [0.8, 1],
  [1, 1],
])("the change nearest to %d is number %d", ([place, found]) => {
  expect(nearest(monthOf([move(15), move(0)], null, now).ticks, place)).toBe(found);
});
