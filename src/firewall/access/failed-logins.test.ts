import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createFailedLogins, createHoldBack } from "./sign-ins.ts";

const limits = { most: 100, delay: 2_000, free: 3, cap: 20_000, forgotten: 60_000 };

describe("createFailedLogins", () => {
  it("has the same delay for the first few, then doubles it each time, up to a limit", () => {
    const logins = createFailedLogins(limits);
    const delays = Array.from({ length: 8 }, (_, at) => logins.note("192.0.2.1", `${at}`, 0).delay);
    expect(delays).toEqual([2_000, 2_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
    expect(logins.note("192.0.2.2", "a", 0)).toEqual({ failures: 1, delay: 2_000 });
  });

  it("has the same delay each time for a client with a wrong key, whatever others at its address try", () => {
    const logins = createFailedLogins(limits);
    const delays = Array.from({ length: 20 }, () => logins.note("192.0.2.1", "wrong", 0).delay);
    expect(new Set(delays)).toEqual(new Set([2_000]));
    for (const guess of ["a", "b"]) logins.note("192.0.2.1", guess, 0);
    expect(logins.note("192.0.2.1", "c", 0)).toEqual({ failures: 23, delay: 4_000 });
    expect(logins.note("192.0.2.1", "wrong", 0).delay).toBe(2_000);
  });

  it("still recognises one client's wrong key after another client has often tried its own", () => {
    const logins = createFailedLogins(limits);
    for (const guess of ["a", "b", "c", "one"]) logins.note("192.0.2.1", guess, 0);
    for (let count = 0; count < 20; count++) logins.note("192.0.2.1", "other", 0);
    expect(logins.note("192.0.2.1", "one", 0).delay).toBe(2_000);
  });

  it("remembers a limited number of guesses", () => {
    const logins = createFailedLogins(limits);
    for (let count = 0; count < 100; count++) logins.note("192.0.2.1", `${count}`, 0);
    expect(logins.note("192.0.2.1", "0", 0).delay).toBe(20_000);
  });

  it("forgets a source that was quiet", () => {
    const logins = createFailedLogins(limits);
    const start = Date.parse("2026-11-15T12:00:00Z");
    for (let count = 0; count < 6; count++) logins.note("192.0.2.1", "a", start);
    expect(logins.note("192.0.2.1", "a", start + 60_000).failures).toBe(7);
    expect(logins.note("192.0.2.1", "a", start + 120_001).failures).toBe(1);
  });

  it("counts a household as one source", () => {
    const logins = createFailedLogins(limits);
    logins.note("2001:db8:0:1::1", "a", 0);
    expect(logins.note("2001:db8:0:1:ffff::9", "a", 0).failures).toBe(2);
    expect(logins.note("2001:db8:0:2::1", "a", 0).failures).toBe(1);
  });

  it("remembers a bounded number of sources, those that failed last", () => {
    const logins = createFailedLogins(limits);
    for (let at = 0; at < 5_000; at++) {
      logins.note(`10.0.${at >> 8}.${at & 255}`, "a", at);
      if (at % 50 === 0) logins.note("192.0.2.1", "a", at);
    }
    expect(logins.size()).toBe(100);
    expect(logins.note("192.0.2.1", "a", 5_000).failures).toBe(101);
    expect(logins.note("10.0.19.135", "a", 5_000).failures).toBe(2);
    expect(logins.note("10.0.0.1", "a", 5_000).failures).toBe(1);
  });

  it("keeps counting forever", () => {
    const logins = createFailedLogins(limits);
    for (let count = 0; count < 2_000; count++) logins.note("192.0.2.1", `${count}`, 0);
    expect(logins.note("192.0.2.1", "a", 0)).toEqual({ failures: 2_001, delay: 20_000 });
  });
});

const never = new AbortController().signal;

/** Timers count from the start of the event loop's turn, so this starts a new one. */
async function lasting(work: () => Promise<unknown>): Promise<number> {
  await nextTurn();
  const before = performance.now();
  await work();
  return performance.now() - before;
}

describe("createHoldBack", () => {
  it("delays each caller", async () => {
    const hold = createHoldBack(10);
    expect(await lasting(() => Promise.all([hold(100, never), hold(100, never)]))).toBeGreaterThan(50);
  });

  it("does not delay callers if too many wait, and delays again when some are done", async () => {
    const hold = createHoldBack(2);
    const done = new AbortController();
    const held = [hold(60_000, done.signal), hold(60_000, done.signal)];
    await hold(60_000, never);
    done.abort();
    await Promise.all(held);
    expect(await lasting(() => hold(200, never))).toBeGreaterThan(100);
  });

  it("frees the slot of a caller that has disconnected", async () => {
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

  it("does not wait for a caller that had already disconnected", async () => {
    expect(await lasting(() => createHoldBack(1)(600_000, AbortSignal.abort()))).toBeLessThan(60_000);
  });
});
