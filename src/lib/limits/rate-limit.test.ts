import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

const from = "192.0.2.7";

describe("a rate limit", () => {
  it("allows a minute's calls in a burst, then one for each that is refilled", () => {
    const limit = createRateLimit(60);
    expect(limit.take(2, from, 0)).toEqual({ limit: 60, remaining: 59, fullAt: 1_000, retryAfter: undefined });
    const takes = Array.from({ length: 60 }, () => limit.take(1, from, 0));
    expect(takes.every((quota) => quota.retryAfter === undefined)).toBe(true);
    expect(takes.at(-1)).toMatchObject({ limit: 60, remaining: 0, fullAt: 60_000 });
    expect(limit.take(1, from, 0).retryAfter).toBe(1);
    expect(limit.take(1, from, 999).retryAfter).toBe(1);
    expect(limit.take(1, from, 1000).retryAfter).toBeUndefined();
    expect(limit.take(1, from, 1000).retryAfter).toBe(1);
  });

  it("takes nothing away when the clock is set back", () => {
    const limit = createRateLimit(60);
    limit.take(1, from, 3_600_000);
    expect(limit.take(1, from, 0)).toMatchObject({ remaining: 58, retryAfter: undefined });
  });

  it("says how long to wait in whole seconds", () => {
    const limit = createRateLimit(2);
    for (let i = 0; i < 2; i += 1) limit.take(1, from, 0);
    expect(limit.take(1, from, 1).retryAfter).toBe(30);
  });

  it("counts each token separately, and callers on this machine not at all", () => {
    const limit = createRateLimit(1);
    limit.take(1, from, 0);
    expect(limit.take(1, from, 0).retryAfter).toBe(60);
    expect(limit.take(2, from, 0).retryAfter).toBeUndefined();
    for (const own of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
      expect(limit.take(1, own, 0)).toEqual({ limit: 1, remaining: 1, fullAt: 0, retryAfter: undefined });
    }
  });

  it("never allows more than two minutes' calls in any minute, whenever they come", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2000), { maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (gaps, perMinute) => {
        const limit = createRateLimit(perMinute);
        let now = 0;
        const passed = gaps.flatMap((gap) => {
          now += gap;
          return limit.take(1, from, now).retryAfter === undefined ? [now] : [];
        });
        const most = Math.max(
          0,
          ...passed.map((start) => passed.filter((at) => at >= start && at < start + 60_000).length),
        );
        expect(most).toBeLessThanOrEqual(2 * perMinute);
      }),
    );
  });

  it("keeps a limited number of buckets, the newest ones", () => {
    const limit = createRateLimit(1);
    for (let token = 0; token < 25_000; token += 1) limit.take(token, from, 0);
    expect(limit.take(15_000, from, 0).retryAfter).toBe(60);
    expect(limit.take(14_999, from, 0).retryAfter).toBeUndefined();
  });
});
