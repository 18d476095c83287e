import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coalesceTriggers } from "./coalesce-triggers.ts";

const never = new AbortController().signal;
const now = () => performance.now();

const turns = async (count: number) => {
  for (let left = count; left > 0; left--) await nextTurn();
};

describe("coalesceTriggers", () => {
  it("runs immediately for the first trigger, and once more for all that arrive meanwhile", async () => {
    let works = 0;
    const trigger = coalesceTriggers(
      async () => {
        works += 1;
        await nextTurn();
      },
      { spacing: 0, signal: never, now },
    );
    for (let count = 0; count < 50; count++) trigger();
    expect(works).toBe(1);
    await expect.poll(() => works).toBe(2);
    await nextTurn();
    expect(works).toBe(2);
  });

  it("keeps the spacing in a burst", async () => {
    const starts: number[] = [];
    let read = 0;
    const clock = () => {
      read = now();
      return read;
    };
    // The last time that was read is the start of the run.
    const trigger = coalesceTriggers(async () => void starts.push(read), { spacing: 40, signal: never, now: clock });
    const end = now() + 200;
    while (now() < end) {
      trigger();
      await nextTurn();
    }
    expect(starts.length).toBeLessThan(8);
    for (const [at, start] of starts.slice(1).entries()) expect(start - (starts[at] ?? 0)).toBeGreaterThan(39.9);
  });

  it("ends with a run that began after the last trigger", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 12 }), async (pauses) => {
        let [state, seen] = [0, -1];
        const work = async () => {
          const read = state;
          await turns(3);
          seen = read;
        };
        const trigger = coalesceTriggers(work, { spacing: 2, signal: never, now });
        for (const pause of [0, ...pauses]) {
          state += 1;
          trigger();
          await turns(pause);
        }
        await expect.poll(() => seen).toBe(state);
      }),
      { numRuns: 20 },
    );
  });

  it("does nothing after its signal aborts", async () => {
    const stop = new AbortController();
    let works = 0;
    const work = async () => {
      works += 1;
    };
    const trigger = coalesceTriggers(work, { spacing: 50, signal: stop.signal, now });
    trigger();
    trigger();
    stop.abort();
    await turns(3);
    trigger();
    await turns(3);
    expect(works).toBe(1);
  });
});
