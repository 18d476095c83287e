import { afterEach, describe, expect, it, vi } from "vitest";
import { followZones } from "./followed-zones.ts";
import { keyOfName } from "./name-key.ts";
import type { ZoneSource } from "./zone-source.ts";

describe("followed zones", () => {
  afterEach(() => void vi.useRealTimers());

  const follow = () => {
    vi.useFakeTimers();
    const state = { away: true, troubles: 0 };
    const source = {
      names: async function* () {
        if (state.away) throw new Error("the database cannot be reached");
        yield ["example.org"];
      },
      follow: () => () => undefined,
    } as unknown as ZoneSource;
    const onTrouble = () => {
      state.troubles += 1;
    };
    const { zones, unfollow } = followZones(source, { seed: 0, onTrouble });
    const key = keyOfName("example.net");
    return { state, unfollow, isNoZone: () => zones.isNoZone(Buffer.from(key, "latin1"), 0, key.length) };
  };

  it("retry reading the names of all zones when the source is down at first", async () => {
    const { state, unfollow, isNoZone } = follow();
    await vi.advanceTimersByTimeAsync(0);
    expect([state.troubles, isNoZone()]).toEqual([1, false]);
    state.away = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([state.troubles, isNoZone()]).toEqual([1, true]);
    unfollow();
  });

  it("stop retrying after `unfollow`", async () => {
    const { unfollow } = follow();
    await vi.advanceTimersByTimeAsync(0);
    unfollow();
    expect(vi.getTimerCount()).toBe(0);
  });
});
