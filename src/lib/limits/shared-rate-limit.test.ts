import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RateLimit } from "./rate-limit.ts";
import { type BudgetGrant, type BudgetRule, type CommonBudget, SharedRateLimit } from "./shared-rate-limit.ts";

const from = "192.0.2.7";

/** A `CommonBudget` with a clock that the test moves. */
function commonBudget(clock: { now: number }) {
  const levels = new Map<number, { level: number; at: number }>();
  const asked = { times: 0 };
  const takeCalls = async (token: number, want: number, { capacity, perMinute }: BudgetRule): Promise<BudgetGrant> => {
    asked.times += 1;
    const { level, at } = levels.get(token) ?? { level: capacity, at: clock.now };
    const full = Math.min(capacity, level + ((clock.now - at) * perMinute) / 60_000);
    const granted = Math.min(Math.floor(full), want);
    levels.set(token, { level: full - granted, at: clock.now });
    return { granted, left: full - granted };
  };
  return { budget: { takeCalls } satisfies CommonBudget, asked };
}

async function call(limit: RateLimit, now: number, token = 1) {
  const ready = limit.ready?.(token, from, now);
  if (ready !== undefined) await ready;
  return limit.take(token, from, now);
}

const passed = (quotas: readonly { readonly retryAfter: number | undefined }[]) =>
  quotas.filter((quota) => quota.retryAfter === undefined).length;

describe("a rate limit that several nodes share", () => {
  it("allows no more calls on three nodes than on one, and nearly as many", async () => {
    const { budget } = commonBudget({ now: 0 });
    const nodes = [1, 2, 3].map(() => new SharedRateLimit({ perMinute: 300, budget }));
    const quotas = [];
    for (let i = 0; i < 500; i++) for (const node of nodes) quotas.push(await call(node, 0));
    expect(passed(quotas)).toBeLessThanOrEqual(300);
    expect(passed(quotas)).toBeGreaterThanOrEqual(285);
    expect(quotas.at(-1)).toMatchObject({ limit: 300, remaining: 0, retryAfter: 1 });
  });

  it("allows calls again after the node's clock was set back", async () => {
    const clock = { now: 3_600_000 };
    const { budget } = commonBudget(clock);
    const node = new SharedRateLimit({ perMinute: 10, budget });
    for (let i = 0; i < 11; i++) await call(node, clock.now);
    expect((await call(node, clock.now)).retryAfter).toBeDefined();
    clock.now += 60_000;
    expect((await call(node, 60_000)).retryAfter).toBeUndefined();
  });

  it("holds when all calls come at the same time", async () => {
    const { budget } = commonBudget({ now: 0 });
    const nodes = [1, 2, 3].map(() => new SharedRateLimit({ perMinute: 10, budget }));
    const quotas = await Promise.all(nodes.flatMap((node) => Array.from({ length: 20 }, () => call(node, 0))));
    expect(passed(quotas)).toBe(10);
  });

  it("never allows more calls than one bucket holds and gets, whenever and wherever they come", async () => {
    const one = fc.record({ node: fc.nat(2), gap: fc.nat(3_000), calls: fc.integer({ min: 1, max: 12 }) });
    const cases = fc.asyncProperty(
      fc.array(one, { maxLength: 60 }),
      fc.integer({ min: 1, max: 90 }),
      async (steps, perMinute) => {
        const clock = { now: 0 };
        const { budget } = commonBudget(clock);
        const nodes = [1, 2, 3].map(() => new SharedRateLimit({ perMinute, budget }));
        const times: number[] = [];
        for (const { node, gap, calls } of steps) {
          clock.now += gap;
          const limit = nodes[node];
          const quotas = limit ? await Promise.all(Array.from({ length: calls }, () => call(limit, clock.now))) : [];
          times.push(...Array.from({ length: passed(quotas) }, () => clock.now));
        }
        for (const [i, start] of times.entries()) {
          for (const [j, end] of times.entries()) {
            if (j < i) continue;
            expect(j - i + 1).toBeLessThanOrEqual(perMinute + ((end - start) * perMinute) / 60_000 + 1);
          }
        }
      },
    );
    await fc.assert(cases, { numRuns: 100 });
  });

  it("asks the database for one call in many, and not at all about an empty bucket", async () => {
    const { budget, asked } = commonBudget({ now: 0 });
    const limit = new SharedRateLimit({ perMinute: 2_000, budget });
    for (let i = 0; i < 1_000; i++) await call(limit, 0);
    expect(asked.times).toBeLessThan(15);
    for (let i = 0; i < 1_500; i++) await call(limit, 0);
    const before = asked.times;
    for (let i = 0; i < 1_000; i++) expect((await call(limit, 0)).retryAfter).toBe(1);
    expect(asked.times).toBe(before);
  });

  it("never reports more remaining calls than it knows of", async () => {
    const { budget } = commonBudget({ now: 0 });
    const [near, far] = [1, 2].map(() => new SharedRateLimit({ perMinute: 100, budget }));
    if (!near || !far) throw new Error("no nodes");
    expect((await call(near, 0)).remaining).toBe(94);
    for (let i = 0; i < 40; i++) await call(far, 0);
    const seen = [];
    for (let i = 0; i < 60; i++) seen.push((await call(near, 0)).remaining);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
    expect(seen.at(-1)).toBe(0);
  });

  it("does not count callers on this machine", async () => {
    const { budget, asked } = commonBudget({ now: 0 });
    const limit = new SharedRateLimit({ perMinute: 1, budget });
    for (const own of ["127.0.0.1", "::1"]) {
      expect(limit.ready?.(1, own, 0)).toBeUndefined();
      expect(limit.take(1, own, 0)).toMatchObject({ remaining: 1, retryAfter: undefined });
    }
    expect(asked.times).toBe(0);
  });

  const broken: [how: string, takeCalls: CommonBudget["takeCalls"]][] = [
    ["down", () => Promise.reject(new Error("no database"))],
    ["slow", () => new Promise(() => undefined)],
  ];
  it.each(broken)("continues with its own budget while the database is %s", async (_how, takeCalls) => {
    const limit = new SharedRateLimit({ perMinute: 30, budget: { takeCalls }, patience: 100 });
    const quotas = [];
    let waited = 0;
    for (let i = 0; i < 40; i++) {
      const ready = limit.ready?.(1, from, 0);
      if (ready !== undefined) waited += 1;
      await ready;
      quotas.push(limit.take(1, from, 0));
    }
    expect(passed(quotas)).toBe(30);
    // Only the first call waits for the database.
    expect(waited).toBe(1);
  });
});
