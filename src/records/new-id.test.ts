import { expect, it } from "vitest";
import { newRecordId } from "./new-id.ts";

it("creates record ids in the format that clients know, unique and in the order of time", async () => {
  const first = newRecordId();
  const later = Date.now() + 2;
  while (Date.now() < later);
  const ids = Array.from({ length: 1_000 }, newRecordId);
  expect(ids.filter((id) => !/^[0-9a-f]{32}$/.test(id))).toEqual([]);
  expect(new Set([first, ...ids]).size).toBe(1_001);
  expect(ids.filter((id) => id < first)).toEqual([]);
});

it("never repeats random bits, also of ids that are created in one millisecond", () => {
  const ids = Array.from({ length: 20_000 }, newRecordId);
  expect(new Set(ids.map((id) => id.slice(12))).size).toBe(ids.length);
});
