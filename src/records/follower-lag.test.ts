import { expect, it } from "vitest";
import { followerLag } from "./follower-lag.ts";
import type { LoggedChange } from "./store.ts";

const log = (times: readonly number[]) => ({
  lastChange: async () => times.length,
  changesAfter: async (position: number, limit: number) =>
    times
      .map((at, i) => ({ position: i + 1, at }) as LoggedChange)
      .filter((row) => row.position > position)
      .slice(0, limit),
});

it.each([
  ["an empty log", [], 0, { changes: 0, seconds: 0 }],
  ["all of it read", [1_000, 2_000], 2, { changes: 0, seconds: 0 }],
  ["one change behind", [1_000, 2_000], 1, { changes: 1, seconds: 8 }],
  ["the oldest of several counts", [1_000, 2_000, 9_000], 1, { changes: 2, seconds: 8 }],
  ["a clock that was set back", [99_000], 0, { changes: 1, seconds: 0 }],
  ["ahead of what is read from another node", [1_000], 5, { changes: 0, seconds: 0 }],
])("%s", async (_, times, followed, expected) => {
  expect(await followerLag(log(times), followed, 10_000)).toEqual(expected);
});
