import { expect, it } from "vitest";
import { flatMapInParts } from "./flat-map-in-parts.ts";

it.each([
  [0, 0],
  [2_000, 0],
  [2_001, 1],
  [50_000, 24],
])("%i items are mapped with %i pauses", async (size, expected) => {
  let pauses = 0;
  const items = Array.from({ length: size }, (_, i) => i);
  const odd = (i: number) => (i % 2 === 1 ? [i, -i] : []);
  const found = await flatMapInParts(items, odd, async () => void pauses++);
  expect(found).toEqual(items.flatMap(odd));
  expect(pauses).toBe(expected);
});
