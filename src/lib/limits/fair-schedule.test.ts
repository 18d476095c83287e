import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FairSchedule } from "./fair-schedule.ts";
import { StoreBusy } from "./store-busy.ts";

const unaborted = new AbortController().signal;

/** Work with a given number of steps, each noted. */
function* steps(count: number, note: () => void): Generator<void, string> {
  for (let i = 0; i < count; i++) {
    note();
    yield;
  }
  return "done";
}
/** A clock that advances by one whenever it is read. */
const ticking = () => {
  let time = 0;
  return () => time++;
};

describe("long work", () => {
  it("gives the event loop its turn after every few steps", async () => {
    const schedule = new FairSchedule({ part: 5, clock: ticking() });
    let [done, loops] = [0, 0];
    const work = schedule.run(
      1,
      steps(50, () => {
        done += 1;
      }),
    );
    const seen: number[] = [];
    let over = false;
    void work.then(() => {
      over = true;
    });
    while (!over) {
      await nextTurn();
      loops += 1;
      seen.push(done);
    }
    expect(await work).toBe("done");
    expect(loops).toBeGreaterThan(5);
    const leaps = seen.map((count, i) => count - (seen[i - 1] ?? 0));
    expect(Math.max(...leaps)).toBeLessThanOrEqual(5);
  });

  it("leaves as much time to others as it takes, while they need it", async () => {
    let time = 0;
    const schedule = new FairSchedule({ part: 10, clock: () => time });
    let parts = 0;
    const work = schedule.run(
      1,
      steps(3, () => {
        parts += 1;
        time += 10;
      }),
    );
    const betweenParts: number[] = [];
    let over = false;
    void work.then(() => {
      over = true;
    });
    // Others have two milliseconds of work in every turn of the loop.
    while (!over) {
      await nextTurn();
      time += 2;
      betweenParts[parts] = (betweenParts[parts] ?? 0) + 1;
    }
    expect(betweenParts[1]).toBeGreaterThanOrEqual(5);
    expect(betweenParts[2]).toBeGreaterThanOrEqual(5);
    expect(betweenParts[2]).toBeLessThanOrEqual(9);
  });

  it("alternates between owners, however much one of them has to do", async () => {
    const schedule = new FairSchedule({ part: 2, clock: ticking() });
    const order: string[] = [];
    const work = (owner: number, name: string) =>
      schedule.run(
        owner,
        steps(3, () => order.push(name)),
      );
    const greedy = Array.from({ length: 20 }, () => work(1, "greedy"));
    const modest = work(2, "modest");
    await modest;
    expect(order.filter((name) => name === "greedy").length).toBeLessThanOrEqual(4);
    await Promise.all(greedy);
  });

  it("ends when its signal aborts", async () => {
    const schedule = new FairSchedule({ part: 1, clock: ticking() });
    const gone = new AbortController();
    let done = 0;
    const work = schedule.run(
      1,
      steps(1_000, () => {
        done += 1;
        if (done === 3) gone.abort(new Error("the reader is gone"));
      }),
      gone.signal,
    );
    await expect(work).rejects.toThrow("the reader is gone");
    expect(done).toBe(3);
  });
});

describe("large requests", () => {
  it("are let in one at a time per owner, in order", async () => {
    const schedule = new FairSchedule();
    const order: string[] = [];
    const first = await schedule.hold(1, unaborted);
    const second = schedule.hold(1, unaborted).then((release) => {
      order.push("second");
      release();
    });
    const third = schedule.hold(1, unaborted).then((release) => {
      order.push("third");
      release();
    });
    (await schedule.hold(2, unaborted))();
    order.push("other");
    first();
    first();
    await Promise.all([second, third]);
    expect(order).toEqual(["other", "second", "third"]);
    (await schedule.hold(1, unaborted))();
  });

  it("are refused, with a time to retry, if too many are waiting", async () => {
    const schedule = new FairSchedule({ mostWaiting: 2 });
    const release = await schedule.hold(1, unaborted);
    const waiting = [schedule.hold(1, unaborted), schedule.hold(1, unaborted)];
    const refused = await schedule.hold(1, unaborted).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreBusy);
    expect((refused as StoreBusy).retryAfter).toBeGreaterThan(0);
    release();
    for (const each of waiting) (await each)();
  });

  it("leave the queue when their client disconnects", async () => {
    const schedule = new FairSchedule();
    const release = await schedule.hold(1, unaborted);
    const gone = new AbortController();
    const left = schedule.hold(1, gone.signal);
    const stays = schedule.hold(1, unaborted);
    gone.abort(new Error("hung up"));
    await expect(left).rejects.toThrow("hung up");
    release();
    (await stays)();
  });
});
