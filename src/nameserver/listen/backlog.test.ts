import { expect, it } from "vitest";
import { Backlog } from "./backlog.ts";

function rig() {
  let [now, end] = [0, () => {}];
  const backlog = new Backlog({
    clock: () => now,
    atEndOfPass: (each) => {
      end = each;
    },
  });
  /** A pass that takes this long; returns how many of its answers were made. */
  const pass = (queries: number, cost: number): number => {
    let made = 0;
    for (let i = 0; i < queries; i++) {
      backlog.arrived();
      if (backlog.isLong() && !backlog.hasTime()) continue;
      backlog.timed(() => {
        now += cost;
      });
      made += 1;
    }
    end();
    return made;
  };
  return { pass, wait: (time: number) => (now += time) };
}

it("while fewer queries arrive than can be read in a pass, all are answered, however long that takes", () => {
  const { pass } = rig();
  expect(Array.from({ length: 100 }, () => pass(31, 5))).toEqual(Array.from({ length: 100 }, () => 31));
});

it("a burst is answered completely", () => {
  const { pass, wait } = rig();
  for (let i = 0; i < 20; i++) {
    expect([pass(32, 0.1), pass(32, 0.1), pass(32, 0.1), pass(5, 0.1)]).toEqual([32, 32, 32, 5]);
    wait(50);
  }
});

it("of a flood of expensive queries, each pass answers only what fits into a millisecond", () => {
  const { pass } = rig();
  const made = Array.from({ length: 50 }, () => pass(32, 0.25));
  expect(made.slice(0, 2)).toEqual([32, 32]);
  expect(made.slice(2)).toEqual(made.slice(2).map(() => 4));
});

it("when the flood ends, all queries are answered again", () => {
  const { pass } = rig();
  for (let i = 0; i < 10; i++) pass(32, 1);
  expect([pass(20, 1), pass(32, 1)]).toEqual([1, 32]);
});
