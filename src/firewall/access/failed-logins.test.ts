import { describe, expect, it } from "vitest";
import { createFailedLogins } from "./failed-logins.ts";

const limits = { most: 100, delay: 2_000, free: 3, cap: 20_000, forgotten: 60_000 };

describe("createFailedLogins", () => {
  it("costs the same for the first few, then twice as much each time, up to a limit", () => {
    const logins = createFailedLogins(limits);
    const delays = Array.from({ length: 8 }, (_, at) => logins.note("192.0.2.1", `${at}`, 0).delay);
    expect(delays).toEqual([2_000, 2_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
    expect(logins.note("192.0.2.2", "a", 0)).toEqual({ failures: 1, delay: 2_000 });
  });

  it("costs a client with a wrong key the same each time, whatever others try from there", () => {
    const logins = createFailedLogins(limits);
    const delays = Array.from({ length: 20 }, () => logins.note("192.0.2.1", "wrong", 0).delay);
    expect(new Set(delays)).toEqual(new Set([2_000]));
    for (const guess of ["a", "b"]) logins.note("192.0.2.1", guess, 0);
    expect(logins.note("192.0.2.1", "c", 0)).toEqual({ failures: 23, delay: 4_000 });
    expect(logins.note("192.0.2.1", "wrong", 0).delay).toBe(2_000);
  });

  it("knows the wrong key of one client still when another has tried its own often", () => {
    const logins = createFailedLogins(limits);
    for (const guess of ["a", "b", "c", "one"]) logins.note("192.0.2.1", guess, 0);
    for (let count = 0; count < 20; count++) logins.note("192.0.2.1", "other", 0);
    expect(logins.note("192.0.2.1", "one", 0).delay).toBe(2_000);
  });

  it("does not remember guesses without end", () => {
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

  it("remembers a bounded number, those that failed last", () => {
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

  it("counts on without end", () => {
    const logins = createFailedLogins(limits);
    for (let count = 0; count < 2_000; count++) logins.note("192.0.2.1", `${count}`, 0);
    expect(logins.note("192.0.2.1", "a", 0)).toEqual({ failures: 2_001, delay: 20_000 });
  });
});
