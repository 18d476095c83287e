import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createHoldBack } from "./hold-back.ts";

const never = new AbortController().signal;

/** Timers count from the turn of the event loop that they are set in, so a new one is begun. */
async function lasting(work: () => Promise<unknown>): Promise<number> {
  await nextTurn();
  const before = performance.now();
  await work();
  return performance.now() - before;
}

describe("createHoldBack", () => {
  it("holds each caller for the delay", async () => {
    const hold = createHoldBack(10);
    expect(await lasting(() => Promise.all([hold(100, never), hold(100, never)]))).toBeGreaterThan(50);
  });

  it("lets callers go at once when too many wait, and holds again when some are done", async () => {
    const hold = createHoldBack(2);
    const done = new AbortController();
    const held = [hold(60_000, done.signal), hold(60_000, done.signal)];
    await hold(60_000, never);
    done.abort();
    await Promise.all(held);
    expect(await lasting(() => hold(200, never))).toBeGreaterThan(100);
  });

  it("frees the place of a caller that is gone", async () => {
    const hold = createHoldBack(1);
    const gone = new AbortController();
    const held = hold(60_000, gone.signal);
    gone.abort();
    await held;
    const next = new AbortController();
    const second = hold(60_000, next.signal);
    expect(await Promise.race([second.then(() => "free"), Promise.resolve("held")])).toBe("held");
    next.abort();
    await second;
  });

  it("lets a caller that was gone before go at once", async () => {
    expect(await lasting(() => createHoldBack(1)(600_000, AbortSignal.abort()))).toBeLessThan(60_000);
  });
});
