import { describe, expect, it } from "vitest";
import { createFailedLogins } from "./failed-logins.ts";

const limits = { most: 100, delay: 2_000, free: 3, cap: 20_000, forgotten: 60_000 };

describe("createFailedLogins", () => {
  it("costs the same for the first few, then twice as much each time, up to a limit", () => {
    const logins = createFailedLogins(limits);
    const delays = Array.from({ length: 8 }, () => logins.note("192.0.2.1", 0).delay);
    expect(delays).toEqual([2_000, 2_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
    expect(logins.note("192.0.2.2", 0)).toEqual({ failures: 1, delay: 2_000 });
  });

  it("forgets a source that was quiet", () => {
    const logins = createFailedLogins(limits);
    for (let count = 0; count < 6; count++) logins.note("192.0.2.1", 0);
    expect(logins.note("192.0.2.1", 60_000).failures).toBe(7);
    expect(logins.note("192.0.2.1", 120_001).failures).toBe(1);
  });

  it.each([
    ["2001:db8:0:1::1", "2001:db8:0:1:ffff::9", true],
    ["2001:db8:0:1::1", "2001:db8:0:2::1", false],
    ["::ffff:192.0.2.1", "192.0.2.1", true],
    ["192.0.2.1", "192.0.2.2", false],
  ])("%s and %s are one source: %s", (one, other, same) => {
    const logins = createFailedLogins(limits);
    logins.note(one, 0);
    expect(logins.note(other, 0).failures).toBe(same ? 2 : 1);
  });

  it("remembers a bounded number, those that failed last", () => {
    const logins = createFailedLogins(limits);
    for (let at = 0; at < 5_000; at++) logins.note(`10.0.${at >> 8}.${at & 255}`, at);
    expect(logins.size()).toBe(100);
    expect(logins.note("10.0.19.135", 5_000).failures).toBe(2);
    expect(logins.note("10.0.0.1", 5_000).failures).toBe(1);
  });

  it("counts on without end", () => {
    const logins = createFailedLogins(limits);
    for (let count = 0; count < 2_000; count++) logins.note("192.0.2.1", 0);
    expect(logins.note("192.0.2.1", 0)).toEqual({ failures: 2_001, delay: 20_000 });
  });
});
