import { expect, it } from "vitest";
import { followSource } from "./follow.ts";
import type { SourceReading } from "./source.ts";

const report: SourceReading = { kind: "report", report: new Map() };

it("comes back soon to a stream that said something before it ended, however often that was", async () => {
  const stop = new AbortController();
  const before = performance.now();
  let streams = 0;
  const source = {
    ...{ read: async () => report, close: () => undefined },
    follow: async (heard: (reading: SourceReading) => void) => {
      streams += 1;
      heard(report);
      if (streams === 10) stop.abort();
      return { kind: "ended" } as const;
    },
  };
  await followSource(source, { reading: () => undefined, lost: () => undefined }, () => 0.25, stop.signal);
  // Nine pauses of 250 ms; were each twice the one before, it would be two minutes.
  expect(performance.now() - before).toBeLessThan(60_000);
});
