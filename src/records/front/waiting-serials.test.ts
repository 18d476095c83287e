import { expect, test } from "vitest";
import { WaitingSerials } from "./waiting-serials.ts";

test("an action ends when all its sets are published", () => {
  const waiting = new WaitingSerials();
  waiting.add(1, ["www A", "www AAAA"]);
  waiting.settle("www A", waiting.of("www A"));
  expect(waiting.ended).toEqual(new Map());
  waiting.settle("www AAAA", waiting.of("www AAAA"));
  expect(waiting.ended).toEqual(new Map([[undefined, [1]]]));
  waiting.noteStored([1]);
  expect(waiting.ended).toEqual(new Map());
});

test("a write that came while the set was sent waits for the next time", () => {
  const waiting = new WaitingSerials();
  waiting.add(1, ["www A"]);
  const sent = waiting.of("www A");
  waiting.add(2, ["www A"]);
  waiting.settle("www A", sent);
  expect(waiting.ended).toEqual(new Map([[undefined, [1]]]));
  expect(waiting.of("www A")).toEqual([2]);
});

test("the first failure is the error of the action", () => {
  const waiting = new WaitingSerials();
  waiting.add(1, ["a A", "b A"]);
  waiting.settle("a A", [1], "no such type");
  waiting.settle("b A", [1]);
  expect(waiting.ended).toEqual(new Map([["no such type", [1]]]));
});

test("a write without sets has ended", () => {
  const waiting = new WaitingSerials();
  waiting.add(7, []);
  expect(waiting.ended).toEqual(new Map([[undefined, [7]]]));
});
