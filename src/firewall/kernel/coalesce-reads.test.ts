import { describe, expect, it } from "vitest";
import { coalesceReads } from "./coalesce-reads.ts";

function reader() {
  const pending: PromiseWithResolvers<number>[] = [];
  let clock = 1000;
  const { readRecent: ask, readNow } = coalesceReads(
    () => {
      const read = Promise.withResolvers<number>();
      pending.push(read);
      return read.promise;
    },
    200,
    () => clock,
  );
  return {
    ask,
    readNow,
    reads: () => pending.length,
    finish: (at: number) => pending[at]?.resolve(at),
    fail: (at: number) => pending[at]?.reject(new Error(`read ${at} failed`)),
    pass: (ms: number) => {
      clock += ms;
    },
  };
}

describe("coalesceReads", () => {
  it("shares one read among all callers that arrive while it runs", async () => {
    const { ask, reads, finish } = reader();
    const answers = [ask(), ask(), ask()];
    finish(0);
    expect(await Promise.all(answers)).toEqual([0, 0, 0]);
    expect(reads()).toBe(1);
  });

  it("returns a finished read for less than 200 ms, counted from its start", async () => {
    const { ask, reads, finish, pass } = reader();
    const first = ask();
    pass(150);
    finish(0);
    await first;
    pass(49);
    expect(await ask()).toBe(0);
    pass(1);
    const second = ask();
    finish(1);
    expect(await second).toBe(1);
    expect(reads()).toBe(2);
  });

  it("does not give a slow read to late callers, and does not start a second one in parallel", async () => {
    const { ask, reads, finish, pass } = reader();
    const early = ask();
    pass(500);
    const late = [ask(), ask()];
    expect(reads()).toBe(1);
    finish(0);
    expect(await early).toBe(0);
    await expect.poll(reads).toBe(2);
    finish(1);
    expect(await Promise.all(late)).toEqual([1, 1]);
  });

  it("gives a failure to those who waited, and reads again for the next", async () => {
    const { ask, finish, fail } = reader();
    const [one, other] = [ask(), ask()];
    fail(0);
    await expect(one).rejects.toThrow("read 0 failed");
    await expect(other).rejects.toThrow("read 0 failed");
    const again = ask();
    finish(1);
    expect(await again).toBe(1);
  });

  it("continues after a slow read that failed", async () => {
    const { ask, reads, finish, fail, pass } = reader();
    const early = ask();
    pass(500);
    const late = ask();
    fail(0);
    await expect(early).rejects.toThrow("read 0 failed");
    await expect.poll(reads).toBe(2);
    finish(1);
    expect(await late).toBe(1);
  });

  it("starts a new read immediately, and returns nothing older to later callers", async () => {
    const { ask, readNow, reads, finish, pass } = reader();
    const early = ask();
    finish(0);
    expect(await early).toBe(0);
    pass(50);
    const now = readNow();
    expect(reads()).toBe(2);
    const after = ask();
    finish(1);
    expect(await Promise.all([now, after])).toEqual([1, 1]);
    expect(await ask()).toBe(1);
    expect(reads()).toBe(2);
  });
});
