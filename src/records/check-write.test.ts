import { describe, expect, it } from "vitest";
import { sizeFaults } from "./check-write.ts";
import { aRecord, aSet } from "./rig/a-set.ts";

describe("a set that is too large for a DNS message", () => {
  const ofSize = (count: number) => ({
    ...aSet("www"),
    records: Array.from({ length: count }, (_, i) => aRecord("www", `10.0.${i >> 8}.${i & 255}`)),
  });
  const codes = (before: readonly number[], after: number) =>
    sizeFaults(before.map(ofSize), [ofSize(after)]).map(({ code, where }) => `${code} ${where}`);

  it("is refused", () => {
    expect(codes([], 4_000)).toEqual([]);
    expect(codes([], 5_000)).toEqual(["set-too-large www A"]);
    expect(codes([4_000], 5_000)).toEqual(["set-too-large www A"]);
  });

  it("that is there already may become smaller or stay, and not grow", () => {
    expect(codes([5_000], 4_999)).toEqual([]);
    expect(codes([5_000], 5_000)).toEqual([]);
    expect(codes([5_000], 5_001)).toEqual(["set-too-large www A"]);
  });
});
