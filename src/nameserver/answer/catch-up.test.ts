import { expect, it } from "vitest";
import { createCatchUp } from "./catch-up.ts";

function setUp({ start = 0, limit = 60_000 } = {}) {
  let latest = start;
  const catchUp = createCatchUp({ latest: () => latest, start, limit });
  const written = () => {
    latest = (latest + 1) | 0;
    return latest;
  };
  return { ...catchUp, written };
}

it("does not delay queries when everything has arrived", () => {
  const { wait, reported, written } = setUp();
  expect(wait()).toBeUndefined();
  reported(written());
  expect(wait()).toBeUndefined();
});

it("holds a query until the writes before it have arrived, and no longer", async () => {
  const { wait, reported, written } = setUp();
  const order: string[] = [];
  const asks = async (who: string) => {
    await wait();
    order.push(who);
  };
  const first = written();
  const early = [asks("a"), asks("b")];
  const second = written();
  const late = asks("c");
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  reported(first);
  await Promise.all(early);
  await new Promise(setImmediate);
  expect(order).toEqual(["a", "b"]);
  reported(second);
  await late;
  expect(wait()).toBeUndefined();
});

it("handles numbers that wrap around at 32 bits", async () => {
  const { wait, reported, written } = setUp({ start: 2 ** 31 - 1 });
  const next = written();
  expect(next).toBeLessThan(0);
  const waiting = wait();
  expect(waiting).toBeInstanceOf(Promise);
  reported(next);
  await waiting;
  expect(wait()).toBeUndefined();
});

it("gives up when a write never arrives, once for all queries", async () => {
  const { wait, reported, written } = setUp({ limit: 5 });
  const number = written();
  const first = wait();
  await first;
  expect(wait()).toBe(first);
  reported(number);
  expect(wait()).toBeUndefined();
});
