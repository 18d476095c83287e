import { expect, it } from "vitest";
import { InterruptibleSleep } from "./interruptible-sleep.ts";

const forever = () => 3_600_000;
const isOver = async (sleeping: Promise<void>) => {
  await new Promise(setImmediate);
  return Promise.race([sleeping.then(() => true), Promise.resolve(false)]);
};

it("a sleep ends when it is woken", async () => {
  const pause = new InterruptibleSleep();
  const sleeping = pause.sleep(forever);
  expect(await isOver(sleeping)).toBe(false);
  pause.wake();
  await sleeping;
});

it("a wake before a sleep ends that sleep before it begins, and no other", async () => {
  const pause = new InterruptibleSleep();
  pause.wake();
  await pause.sleep(forever);
  const second = pause.sleep(forever);
  expect(await isOver(second)).toBe(false);
  pause.wake();
  await second;
});

it("a forgotten wake does not end a sleep", async () => {
  const pause = new InterruptibleSleep();
  pause.wake();
  pause.forget();
  const sleeping = pause.sleep(forever);
  expect(await isOver(sleeping)).toBe(false);
  pause.wake();
  await sleeping;
});

it("a review asks again how much of the sleep is left", async () => {
  const pause = new InterruptibleSleep();
  let left = 3_600_000;
  const sleeping = pause.sleep(() => left);
  pause.review();
  expect(await isOver(sleeping)).toBe(false);
  left = 0;
  pause.review();
  await sleeping;
});
