import { describe, expect, it } from "vitest";
import { createLagMeter } from "./follower-lag.ts";

/** Measures at these times, with the log and its follower at these positions. */
async function measured(samples: readonly (readonly [at: number, last: number, followed: number])[]) {
  let [at, last, followed] = [0, 0, 0];
  const lag = createLagMeter(
    { lastChange: async () => last },
    () => followed,
    () => at,
  );
  const found = [];
  for (const sample of samples) {
    [at, last, followed] = sample;
    found.push(await lag());
  }
  return found.map(({ changes, seconds }) => `${changes} for ${seconds} s`);
}

describe("the lag of a follower of the log", () => {
  it.each([
    ["an empty log", [[0, 0, 0]], ["0 for 0 s"]],
    ["everything read", [[0, 2, 2]], ["0 for 0 s"]],
    ["ahead of the position read from another node", [[0, 1, 5]], ["0 for 0 s"]],
    [
      "stuck",
      [
        [1_000, 2, 1],
        [5_000, 2, 1],
        [9_000, 7, 1],
        [9_500, 7, 7],
      ],
      ["1 for 0 s", "1 for 4 s", "6 for 8 s", "0 for 0 s"],
    ],
    [
      "always something unread, but read by the next measurement",
      [
        [0, 20, 10],
        [15_000, 520, 512],
        [30_000, 1_020, 1_019],
      ],
      ["10 for 0 s", "8 for 0 s", "1 for 0 s"],
    ],
    [
      "slow: the oldest unread change counts",
      [
        [0, 20, 10],
        [5_000, 40, 15],
        [10_000, 60, 25],
      ],
      ["10 for 0 s", "25 for 5 s", "35 for 5 s"],
    ],
  ] as const)("%s", async (_, samples, expected) => {
    expect(await measured(samples)).toEqual(expected);
  });

  it("does not count changes that were read while the position of the log was queried", async () => {
    let followed = 1;
    const lastChange = async () => {
      followed = 3;
      return 3;
    };
    expect(await createLagMeter({ lastChange }, () => followed)()).toEqual({ changes: 0, seconds: 0 });
  });
});
