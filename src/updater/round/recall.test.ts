import { describe, expect, it } from "vitest";
import { createRecall } from "./recall.ts";

const hour = 3_600_000;
const start = Date.parse("2026-11-15T12:00:00Z");

describe("what a process recalls of a name", () => {
  it("includes since when its address is the same, without a break", () => {
    const recall = createRecall();
    const since = (address: string | undefined, at: number) => {
      recall.saw("a", address, at);
      return recall.steadySince("a");
    };
    expect(since("9.9.9.9", 1)).toBe(1);
    expect(since("9.9.9.9", 2)).toBe(1);
    expect(since("9.9.9.8", 3)).toBe(3);
    expect(since(undefined, 4)).toBeUndefined();
    expect(since("9.9.9.8", 5)).toBe(5);
    expect(recall.steadySince("b")).toBeUndefined();
  });

  it("includes its changes within the last hour, oldest first", () => {
    const recall = createRecall();
    for (const at of [start, start + 1, start + hour]) recall.changed("a", at);
    expect(recall.changes("a")).toEqual([start + 1, start + hour]);
    expect(recall.changes("b")).toEqual([]);
  });

  it("does not include changes in the future, as after the clock was set back", () => {
    const recall = createRecall();
    for (const at of [start + 5, start]) recall.changed("a", at);
    expect(recall.changes("a")).toEqual([start]);
  });

  it("includes at most as many changes as changesPerHour can count, the latest ones", () => {
    const recall = createRecall();
    for (let i = 0; i < 3_601; i++) recall.changed("a", start + i);
    expect(recall.changes("a")).toHaveLength(3_600);
    expect(recall.changes("a").at(-1)).toBe(start + 3_600);
  });

  it("includes when its record was last seen to be correct", () => {
    const recall = createRecall();
    expect(recall.verifiedAt("a")).toBeUndefined();
    recall.ask("a");
    expect([recall.isAsked("a"), recall.isAsked("b")]).toEqual([true, false]);
    recall.verified("a", start);
    expect([recall.verifiedAt("a"), recall.isAsked("a")]).toEqual([start, false]);
  });
});
