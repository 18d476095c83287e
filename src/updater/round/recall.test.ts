import { describe, expect, it } from "vitest";
import { createRecall } from "./recall.ts";

const hour = 3_600_000;
const start = Date.parse("2026-11-15T12:00:00Z");

describe("what a process recalls of a name", () => {
  it("since when its address has been the same, without a break", () => {
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

  it("its changes of the last hour, oldest first", () => {
    const recall = createRecall();
    for (const at of [start, start + 1, start + hour]) recall.changed("a", at);
    expect(recall.changes("a")).toEqual([start + 1, start + hour]);
    expect(recall.changes("b")).toEqual([]);
  });

  it("no changes that lie ahead, as after a clock was put back", () => {
    const recall = createRecall();
    for (const at of [start + 5, start]) recall.changed("a", at);
    expect(recall.changes("a")).toEqual([start]);
  });

  it("no more changes than a cap could count, the last ones", () => {
    const recall = createRecall();
    for (let i = 0; i < 3_601; i++) recall.changed("a", start + i);
    expect(recall.changes("a")).toHaveLength(3_600);
    expect(recall.changes("a").at(-1)).toBe(start + 3_600);
  });

  it("when its record was last seen to be right", () => {
    const recall = createRecall();
    expect(recall.verifiedAt("a")).toBeUndefined();
    recall.verified("a", start);
    expect(recall.verifiedAt("a")).toBe(start);
  });
});
