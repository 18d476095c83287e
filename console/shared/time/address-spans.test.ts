import { describe, expect, it } from "vitest";
import { movesOf } from "../../updater/moves.ts";
import { drawnUntil, latestSpans, spansOf } from "./spans.ts";

describe("addresses over time", () => {
  it("are spans between actual changes", () => {
    const points = ["a", "a", "b", "a"].map((address, i) => ({ address, at: i * 10 }));
    expect(spansOf(points)).toEqual([
      { address: "a", from: 0, until: 20 },
      { address: "b", from: 20, until: 30 },
      { address: "a", from: 30, until: undefined },
    ]);
  });

  it("are drawn back to where the lanes run out", () => {
    const spans = spansOf(["a", "b", "c", "b", "c", "d"].map((address, at) => ({ address, at })));
    const drawn = (most: number) => latestSpans(spans, most).map(({ address }) => address);
    expect(drawn(2)).toEqual(["c", "d"]);
    expect(drawn(3)).toEqual(["b", "c", "b", "c", "d"]);
    expect(drawn(4)).toHaveLength(6);
    expect(latestSpans([], 4)).toEqual([]);
  });

  it("are drawn up to now, or up to a change that is newer than the page's clock", () => {
    const spans = spansOf(["a", "b"].map((address, i) => ({ address, at: 1_000 * i })));
    expect([drawnUntil(spans, 5_000), drawnUntil(spans, 500), drawnUntil([], 7)]).toEqual([5_000, 1_000, 7]);
  });

  it("are found in the updater's decisions", () => {
    const done = (at: string, what: string) => ({ at, kind: "done" as const, about: "home.example.org A", what });
    const spans = movesOf("home.example.org A", [
      done("2026-01-02T00:00:00Z", "record replaced by 192.0.2.2"),
      done("2026-01-01T00:00:00Z", "record replaced by 192.0.2.1"),
    ]);
    expect(spans.map(({ address }) => address)).toEqual(["192.0.2.1", "192.0.2.2"]);
  });
});
