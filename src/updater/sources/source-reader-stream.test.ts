import { describe, expect, it } from "vitest";
import { BackOffs } from "../../lib/limits/failure-delay.ts";
import type { FollowEnd, SourceReading } from "./source.ts";
import { SourceReader } from "./source-reader.ts";

const report: SourceReading = { kind: "report", report: new Map() };
const ended: FollowEnd = { kind: "ended" };

/** The pauses after `count` streams, all with the same duration in milliseconds and the same content. */
async function pausesAfter(
  count: number,
  stream: (hear: (reading: SourceReading) => void) => FollowEnd,
  { lasting = 0, random = 0 } = {},
) {
  const stop = new AbortController();
  const pauses: number[] = [];
  const heard: boolean[] = [];
  let time = 0;
  const source = {
    read: async () => report,
    close: () => undefined,
    async follow(hear: (reading: SourceReading) => void) {
      time += lasting;
      return stream(hear);
    },
  };
  const pause = async (ms: number) => {
    time += ms;
    if (pauses.push(ms) === count) stop.abort();
  };
  const tools = { backOffs: new BackOffs(() => 0), now: () => time, random: () => random, clock: () => time, pause };
  const reader = new SourceReader("home", source, tools);
  await reader.follow(() => void heard.push(reader.isPushing()), stop.signal);
  return { pauses, heard };
}

describe("a stream that ends soon is opened less and less often", () => {
  it.for([
    ["right after it was opened", () => ended],
    [
      "after each snapshot",
      (hear: (reading: SourceReading) => void) => {
        hear(report);
        return ended;
      },
    ],
  ] as const)("%s", async ([, stream]) => {
    for (const random of [0, 0.999]) {
      const { pauses } = await pausesAfter(12, stream, { random });
      for (const [i, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(Math.min(30_000, 500 * 2 ** i));
      expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
    }
  });

  it("but one that lasted a minute is opened again soon", async () => {
    const { pauses, heard } = await pausesAfter(12, () => ended, { lasting: 60_000, random: 0.999 });
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
    expect([pauses.length, heard]).toEqual([12, []]);
  });
});

it("the events of a stream are passed on, and so is its end", async () => {
  const { heard } = await pausesAfter(3, (hear) => {
    hear(report);
    return ended;
  });
  expect(heard).toEqual([true, false, true, false, true, false]);
});

it("waits as long as the firewall asks, and an hour if it has no stream", async () => {
  expect((await pausesAfter(1, () => ({ kind: "ended", retry: 7_000 }))).pauses).toEqual([7_000]);
  expect((await pausesAfter(1, () => ({ kind: "not-offered" }), { random: 0.5 })).pauses).toEqual([3_600_000]);
});
