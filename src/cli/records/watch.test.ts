import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { urlOf } from "../../lib/http/listen.ts";
import { createHealth } from "../../process/health.ts";
import { closeInReverse, type Opened } from "../../process/lifecycle.ts";
import { noLog } from "../../process/log.ts";
import type { RunningRecords } from "../../records/start.ts";
import type { RunningDns } from "../../serving/start.ts";
import { watchRecords } from "./watch.ts";

const dnsAt = (state: Partial<RunningDns>): RunningDns =>
  ({
    followed: () => 0,
    lateSince: () => undefined,
    unsignedSince: () => undefined,
    lostChanges: { count: () => 0, pending: () => 0 },
    counters: [],
    loads: { underway: 0, done: 0, failed: 0 },
    loaded: Promise.resolve(),
    ...state,
  }) as unknown as RunningDns;

describe("health", () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    [1, "1 change behind the log, for 11 s"],
    [12, "12 changes behind the log, for 11 s"],
  ])("says how far the nameserver is behind: %i", async (last, because) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const health = createHealth();
    const service = { health, store: { lastChange: async () => last } } as unknown as RunningRecords;
    await watchRecords(service, dnsAt({}), { at: undefined, opened: [] });
    expect((await health.readiness()).parts).toMatchObject({ nameserver: { ok: true } });
    vi.advanceTimersByTime(11_000);
    expect((await health.readiness()).parts).toMatchObject({ nameserver: { ok: false, because } });
  });

  it.each([
    [{ lateSince: () => performance.now() - 900 }, undefined],
    [{ loaded: new Promise<void>(() => {}) }, /are still being loaded/],
    [{ lateSince: () => performance.now() - 3_100 }, /outdated: .* could not be read for 3 s/],
    [{ lostChanges: { count: () => 1, pending: () => 2 } }, /has lost changes; 2 zones must be read again/],
  ])("says that answers are outdated, without asking the database: %#", async (state, because) => {
    const health = createHealth();
    const lastChange = because === undefined ? async () => 0 : () => new Promise<never>(() => undefined);
    const service = { health, store: { lastChange } } as unknown as RunningRecords;
    await watchRecords(service, dnsAt(state), { at: undefined, opened: [] });
    const { nameserver } = (await health.readiness()).parts;
    expect(nameserver).toEqual(because ? { ok: false, because: expect.stringMatching(because) } : { ok: true });
  });
});

it("a zone that is not signed in time is shown, but the service is ready", async () => {
  const health = createHealth();
  const service = { health, store: { lastChange: async () => 0 } } as unknown as RunningRecords;
  await watchRecords(service, dnsAt({ unsignedSince: () => performance.now() - 3_100 }), { at: undefined, opened: [] });
  const { ready, parts } = await health.readiness();
  expect({ ready, signer: parts.signer }).toEqual({
    ready: true,
    signer: { ok: false, because: expect.stringMatching(/outdated: .* waited for signatures for 3 s/) },
  });
});

describe("metrics", () => {
  const opened: Opened[] = [];
  afterEach(() => closeInReverse(opened, noLog));

  it("query an unavailable database in parallel", async () => {
    const never = new Promise<never>(() => {});
    const asked = new Set<string>();
    const health = createHealth();
    health.add("store", () => {
      asked.add("health");
      return never;
    });
    const service = {
      health,
      store: {
        lastChange: () => {
          asked.add("lag");
          return never;
        },
      },
      duties: { isLeading: () => false },
      metrics: () => {
        asked.add("metrics");
        return never;
      },
    } as unknown as RunningRecords;
    const dns = dnsAt({});
    const at = await watchRecords(service, dns, { at: { host: "127.0.0.1", port: 0 }, opened });
    const given = new AbortController();
    const answer = fetch(`${urlOf(at ?? { host: "", port: 0 }, "http")}/metrics`, { signal: given.signal });
    await expect.poll(() => asked.size).toBeGreaterThan(0);
    // Before the first of them times out.
    for (let turns = 0; turns < 10; turns++) await turn();
    expect([...asked].sort()).toEqual(["health", "lag", "metrics"]);
    given.abort();
    await expect(answer).rejects.toThrow("aborted");
  });
});
