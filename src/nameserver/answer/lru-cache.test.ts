import fc from "fast-check";
import { expect, it } from "vitest";
import { createLruCache } from "./lru-cache.ts";

it("keeps an entry that is used while others are added and dropped", () => {
  const map = createLruCache<number>(10);
  map.set("kept", 1);
  for (let i = 0; i < 1_000; i++) {
    map.set(`other${i}`, i);
    expect(map.get("kept")).toBe(1);
  }
  expect(map.get("other0")).toBeUndefined();
});

it("never holds more than twice its limit, and only the latest values", () => {
  const step = fc.tuple(fc.constantFrom("set", "get", "delete"), fc.nat(40), fc.nat(9));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const map = createLruCache<number>(8);
      const model = new Map<string, number>();
      for (const [what, key, value] of steps) {
        if (what === "set") {
          map.set(`${key}`, value);
          model.set(`${key}`, value);
        } else if (what === "delete") {
          map.delete(`${key}`);
          model.delete(`${key}`);
        } else {
          expect([undefined, model.get(`${key}`)]).toContain(map.get(`${key}`));
        }
      }
      const held = [...model.keys()].filter((key) => map.get(key) !== undefined);
      expect(held.length).toBeLessThanOrEqual(16);
      map.clear();
      expect(map.get("0")).toBeUndefined();
    }),
  );
});
