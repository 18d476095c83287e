import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createHealth } from "../../process/health.ts";
import { urlOf } from "../../process/listen-address.ts";
import { noLog } from "../../process/log.ts";
import { closeInReverse, type Opened } from "../../process/shutdown.ts";
import type { RunningDns } from "../../publish/start.ts";
import type { RunningRecords } from "../../records/start.ts";
import { watchRecords } from "./watch.ts";

describe("health", () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    [1, "1 change behind the log, for 11 s"],
    [12, "12 changes behind the log, for 11 s"],
  ])("says how far the nameserver is behind: %i", async (last, because) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const health = createHealth();
    const service = { health, store: { lastChange: async () => last } } as unknown as RunningRecords;
    await watchRecords(service, { followed: () => 0 } as unknown as RunningDns, { at: undefined, opened: [] });
    expect((await health.look()).parts).toMatchObject({ nameserver: { ok: true } });
    vi.advanceTimersByTime(11_000);
    expect((await health.look()).parts).toMatchObject({ nameserver: { ok: false, because } });
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
    const dns = { followed: () => 0, counters: [] } as unknown as RunningDns;
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
