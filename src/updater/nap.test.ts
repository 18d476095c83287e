import { expect, it } from "vitest";
import { createNap } from "./nap.ts";

const forever = () => 3_600_000;
const isOver = async (napping: Promise<void>) => {
  await new Promise(setImmediate);
  return Promise.race([napping.then(() => true), Promise.resolve(false)]);
};

it("a nap ends when it is woken", async () => {
  const nap = createNap();
  const napping = nap.sleep(forever);
  expect(await isOver(napping)).toBe(false);
  nap.wake();
  await napping;
});

it("a wake before a nap ends that nap before it begins, and no other", async () => {
  const nap = createNap();
  nap.wake();
  await nap.sleep(forever);
  const second = nap.sleep(forever);
  expect(await isOver(second)).toBe(false);
  nap.wake();
  await second;
});

it("a forgotten wake does not end a nap", async () => {
  const nap = createNap();
  nap.wake();
  nap.forget();
  const napping = nap.sleep(forever);
  expect(await isOver(napping)).toBe(false);
  nap.wake();
  await napping;
});

it("a review asks again how much of the nap is left", async () => {
  const nap = createNap();
  let left = 3_600_000;
  const napping = nap.sleep(() => left);
  nap.review();
  expect(await isOver(napping)).toBe(false);
  left = 0;
  nap.review();
  await napping;
});
