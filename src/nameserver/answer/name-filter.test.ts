import fc from "fast-check";
import { expect, it } from "vitest";
import { createNameFilter } from "./name-filter.ts";

it("may hold every name that was added, whatever the seed", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 3_000 }), fc.nat(2 ** 31), (names, seed) => {
      const filter = createNameFilter(seed);
      for (const name of names) filter.add(name);
      expect(names.filter((name) => !filter.mayHold(name))).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

it("rejects nearly every other name", () => {
  const filter = createNameFilter(7);
  for (let i = 0; i < 100_000; i++) filter.add(`z${i}.example`);
  const mistaken = Array.from({ length: 100_000 }, (_, i) => `n${i}.example`).filter((name) => filter.mayHold(name));
  expect(mistaken.length).toBeLessThan(50);
});

it("holds nothing at first", () => {
  expect(createNameFilter(1).mayHold("")).toBe(false);
});
