import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Instant } from "../core/instant.ts";
import { plainSettings, type Zone } from "../records/model.ts";
import { watchExpiry } from "./zone-expiry.ts";

const zone: Zone = {
  number: 1,
  account: 1,
  id: "a",
  name: "a.example",
  settings: plainSettings(600),
  serial: 1,
  created: 1,
  modified: 1,
  recordCount: 0,
};
const hour = 3_600_000;
const day = 24 * hour;

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function watched(until: Instant, later: () => Promise<Instant | undefined>) {
  const ended: [string, Instant][] = [];
  const expired = (name: string) => void ended.push([name, Date.now()]);
  const expiry = watchExpiry({ until: later, expired });
  expiry.watch(zone, until);
  return { expiry, ended };
}

it.each([1_000, day])("expires a zone after %i ms", async (until) => {
  const { ended } = watched(until, () => Promise.resolve(until));
  await vi.advanceTimersByTimeAsync(until);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([["a.example", until + 1]]);
  expect(vi.getTimerCount()).toBe(0);
});

it("looks at the clock every hour, which may be set forward, also for longer than a timer can wait", async () => {
  let looks = 0;
  const until = 40 * day;
  const { ended } = watched(until, async () => {
    looks += 1;
    return until;
  });
  await vi.advanceTimersByTimeAsync(2 * hour);
  expect([looks, ended]).toEqual([2, []]);
  vi.setSystemTime(until);
  await vi.advanceTimersByTimeAsync(hour);
  expect([looks, ended]).toEqual([3, [["a.example", until + hour]]]);
});

it("keeps a zone whose primary answered meanwhile", async () => {
  const { ended } = watched(1_000, () => Promise.resolve(5_000));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([["a.example", 5_001]]);
});

it("expires a zone on time even if the store cannot be read", async () => {
  const { ended } = watched(1_000, () => Promise.reject(new Error("gone")));
  await vi.advanceTimersByTimeAsync(1_001);
  expect(ended).toEqual([["a.example", 1_001]]);
});

it("expires no zone early because the store cannot be read for a while", async () => {
  const { ended } = watched(3 * day, () => Promise.reject(new Error("gone")));
  await vi.advanceTimersByTimeAsync(3 * day);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual([["a.example", 3 * day + 1]]);
});

it("uses the latest expiry time of a zone, and none after `close`", async () => {
  const { expiry, ended } = watched(1_000, () => Promise.resolve(undefined));
  expiry.watch(zone, 2_000);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(ended).toEqual([]);
  expiry.close();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([ended, vi.getTimerCount()]).toEqual([[], 0]);
});
