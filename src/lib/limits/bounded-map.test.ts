import { describe, expect, it } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

describe("a bounded map", () => {
  const filled = (most: number, keys: readonly string[]) => {
    const map = new BoundedMap<string, string>(most);
    for (const key of keys) map.set(key, key);
    return map;
  };

  it("drops the oldest entry beyond its limit", () => {
    const map = filled(2, ["a", "b", "c"]);
    expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([undefined, "b", "c", 2]);
  });

  it("takes an entry that is set again for the newest", () => {
    const map = filled(2, ["a", "b", "a", "c"]);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual(["a", undefined, "c"]);
  });

  it("forgets on request", () => {
    const map = filled(2, ["a", "b"]);
    map.delete("a");
    expect([map.get("a"), map.size]).toEqual([undefined, 1]);
    map.clear();
    expect(map.size).toBe(0);
  });
});
