import { expect, it, onTestFinished } from "vitest";
import { createCatchUp } from "./catch-up.ts";

function setUp({ start = 0, limit = 60_000 } = {}) {
  let latest = start;
  const catchUp = createCatchUp({ latest: () => latest, start, limit });
  const coming = () => {
    latest = (latest + 1) | 0;
    return latest;
  };
  return { ...catchUp, coming };
}

it("lets no query wait when everything has arrived", () => {
  const { wait, told, coming } = setUp();
  expect(wait()).toBeUndefined();
  told(coming());
  expect(wait()).toBeUndefined();
});

it("holds a query until the writes before it have arrived, and no longer", async () => {
  const { wait, told, coming } = setUp();
  const order: string[] = [];
  const asks = async (who: string) => {
    await wait();
    order.push(who);
  };
  const first = coming();
  const early = [asks("a"), asks("b")];
  const second = coming();
  const late = asks("c");
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  told(first);
  await Promise.all(early);
  await new Promise(setImmediate);
  expect(order).toEqual(["a", "b"]);
  told(second);
  await late;
  expect(wait()).toBeUndefined();
});

it("counts around the end of 32 bits", async () => {
  const { wait, told, coming } = setUp({ start: 2 ** 31 - 1 });
  const next = coming();
  expect(next).toBeLessThan(0);
  const waiting = wait();
  expect(waiting).toBeInstanceOf(Promise);
  told(next);
  await waiting;
  expect(wait()).toBeUndefined();
});

it("gives up on what never arrives", async () => {
  const { wait, told, coming } = setUp({ limit: 5 });
  const number = coming();
  await expect(wait()).rejects.toThrow("within 5 ms");
  told(number);
  expect(wait()).toBeUndefined();
});

it("does not end the process when no query waits any more for what never arrives", async () => {
  const { wait, coming } = setUp({ limit: 5 });
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  process.on("unhandledRejection", hear);
  onTestFinished(() => void process.off("unhandledRejection", hear));
  coming();
  void wait();
  coming();
  await expect(wait()).rejects.toThrow("within 5 ms");
  await new Promise(setImmediate);
  expect(unheard).toEqual([]);
});
