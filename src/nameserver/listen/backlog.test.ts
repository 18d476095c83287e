import { expect, it } from "vitest";
import { Backlog } from "./backlog.ts";

function rig() {
  let [now, end] = [0, () => {}];
  const backlog = new Backlog({
    clock: () => now,
    atEndOfTurn: (each) => {
      end = each;
    },
  });
  /** A turn that takes this long; returns how many of its answers were made. */
  const turn = (queries: number, cost: number): number => {
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
  return { turn, wait: (time: number) => (now += time) };
}

it("while fewer queries arrive than can be read in a turn, all are answered, however long that takes", () => {
  const { turn } = rig();
  expect(Array.from({ length: 100 }, () => turn(31, 5))).toEqual(Array.from({ length: 100 }, () => 31));
});

it("a burst is answered completely", () => {
  const { turn, wait } = rig();
  for (let i = 0; i < 20; i++) {
    expect([turn(32, 0.1), turn(32, 0.1), turn(32, 0.1), turn(5, 0.1)]).toEqual([32, 32, 32, 5]);
    wait(50);
  }
});

it("of a flood of expensive queries, each turn answers only what fits into a millisecond", () => {
  const { turn } = rig();
  const made = Array.from({ length: 50 }, () => turn(32, 0.25));
  expect(made.slice(0, 2)).toEqual([32, 32]);
  expect(made.slice(2)).toEqual(made.slice(2).map(() => 4));
});

it("when the flood ends, all queries are answered again", () => {
  const { turn } = rig();
  for (let i = 0; i < 10; i++) turn(32, 1);
  expect([turn(20, 1), turn(32, 1)]).toEqual([1, 32]);
});
