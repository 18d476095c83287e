import { expect, it } from "vitest";
import { Backlog } from "./backlog.ts";

/** Milliseconds to read a datagram. */
const reading = 0.01;

/** A kernel that keeps queries, and an event loop that reads at most 32 of them in a pass. */
function rig() {
  let now = 0;
  const ending: (() => void)[] = [];
  const backlog = new Backlog({ clock: () => now, atEndOfPass: (end) => ending.push(end) });
  const kernel: { readonly cost: number; readonly next?: (() => void) | undefined }[] = [];
  const counts = { answered: 0, dropped: 0 };
  const send = (cost: number, next?: () => void): void => void kernel.push({ cost, next });
  const pass = () => {
    for (let i = 0; i < 32 && kernel.length > 0; i += 1) {
      const query = kernel.shift();
      const answer = () => {
        now += query?.cost ?? 0;
        counts.answered += 1;
        query?.next?.();
      };
      now += reading;
      backlog.arrived();
      if (!backlog.mayBeLong()) answer();
      else backlog.defer({ answer, drop: () => (counts.dropped += 1) });
    }
    for (const end of ending.splice(0)) end();
  };
  /** What one pass does. */
  const during = (what: () => void) => {
    const before = { ...counts, now };
    what();
    return {
      answered: counts.answered - before.answered,
      dropped: counts.dropped - before.dropped,
      time: now - before.now,
    };
  };
  return {
    send,
    pass,
    during,
    counts,
    waiting: () => kernel.length,
    now: () => now,
    wait: (time: number) => (now += time),
  };
}

const many = (times: number, what: () => void) => {
  for (let i = 0; i < times; i += 1) what();
};

it.each([8, 31, 100, 150])(
  "clients that send the next query after each reply lose none: %i at a time",
  (outstanding) => {
    const { send, pass, counts, waiting } = rig();
    const again = () => send(0.15, again);
    many(outstanding, again);
    many(1_000, pass);
    expect(counts.dropped).toBe(0);
    expect(counts.answered).toBeGreaterThan(5_000);
    expect(waiting()).toBeLessThanOrEqual(outstanding);
  },
);

it("a burst is answered completely", () => {
  const { send, pass, counts, wait } = rig();
  many(20, () => {
    many(101, () => send(0.1));
    many(4, pass);
    wait(50);
  });
  expect(counts).toEqual({ answered: 2_020, dropped: 0 });
});

it("of a flood of expensive queries, a pass answers what fits into a millisecond, and none waits for long", () => {
  const { send, pass, during, counts, now } = rig();
  let longest = 0;
  const flood = () => {
    const sent = now();
    many(32, () =>
      send(0.25, () => {
        longest = Math.max(longest, now() - sent);
      }),
    );
    pass();
  };
  many(80, flood);
  const before = { ...counts };
  many(100, () => {
    const { answered, time } = during(flood);
    expect(answered).toBe(4);
    expect(time).toBeLessThan(2);
  });
  const dropped = counts.dropped - before.dropped;
  expect(dropped).toBeGreaterThan(2_700);
  expect(dropped).toBeLessThan(2_900);
  expect(longest).toBeLessThan(55);
});

it("when a flood ends, what is left is answered in a few passes, none of which takes long", () => {
  const { send, pass, during, counts } = rig();
  many(14, () => {
    many(32, () => send(1));
    pass();
  });
  const before = { ...counts };
  many(60, () => expect(during(pass).time).toBeLessThan(12));
  expect(counts.dropped).toBe(before.dropped);
  send(1);
  expect(during(pass).answered).toBe(1);
});

it("after it was closed, nothing more is answered", () => {
  const ending: (() => void)[] = [];
  let now = 0;
  const backlog = new Backlog({ clock: () => (now += 1), atEndOfPass: (end) => ending.push(end) });
  many(20, () => {
    many(32, () => backlog.arrived());
    for (const end of ending.splice(0)) end();
  });
  backlog.arrived();
  expect(backlog.mayBeLong()).toBe(true);
  backlog.defer({ answer: () => expect.unreachable(), drop: () => undefined });
  backlog.close();
  for (const end of ending.splice(0)) end();
});
