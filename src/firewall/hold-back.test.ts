import { describe, expect, it } from "vitest";
import { createHoldBack } from "./hold-back.ts";

const never = new AbortController().signal;

async function lasting(work: Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work;
  return performance.now() - before;
}

describe("createHoldBack", () => {
  it("holds each caller for the delay", async () => {
    const hold = createHoldBack({ delay: 100, most: 10 });
    expect(await lasting(Promise.all([hold(never), hold(never)]))).toBeGreaterThan(95);
  });

  it("lets callers go at once when too many wait, and holds again when some are done", async () => {
    const hold = createHoldBack({ delay: 200, most: 2 });
    const held = [hold(never), hold(never)];
    expect(await lasting(hold(never))).toBeLessThan(150);
    await Promise.all(held);
    expect(await lasting(hold(never))).toBeGreaterThan(195);
  });

  it("frees the place of a caller that is gone", async () => {
    const hold = createHoldBack({ delay: 60_000, most: 1 });
    const gone = new AbortController();
    const held = hold(gone.signal);
    gone.abort();
    await held;
    const next = new AbortController();
    const second = hold(next.signal);
    expect(await Promise.race([second.then(() => "free"), Promise.resolve("held")])).toBe("held");
    next.abort();
    await second;
  });

  it("lets a caller that was gone before go at once", async () => {
    expect(await lasting(createHoldBack({ delay: 60_000, most: 1 })(AbortSignal.abort()))).toBeLessThan(1000);
  });
});
