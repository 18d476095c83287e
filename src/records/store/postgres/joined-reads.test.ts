import { expect, it } from "vitest";
import { joinReads } from "./joined-reads.ts";

it("reads that waited for others pass on since when, so that they wait no longer in total", async () => {
  const loads: { readonly keys: readonly number[]; readonly since: number; readonly end: () => void }[] = [];
  const read = joinReads<number, number>({
    load: (keys, since) => new Promise((resolve) => loads.push({ keys, since, end: () => resolve(keys) })),
  });
  const reads: Promise<number>[] = [];
  for (const key of [1, 2]) {
    reads.push(read(key));
    await expect.poll(() => loads.length).toBe(key);
  }
  const before = performance.now();
  reads.push(read(3));
  const after = performance.now();
  reads.push(read(4));
  await expect.poll(() => performance.now()).toBeGreaterThan(after);
  loads[0]?.end();
  await expect.poll(() => loads.length).toBe(3);
  expect(loads[2]?.keys).toEqual([3, 4]);
  expect(loads[2]?.since).toBeGreaterThanOrEqual(before);
  expect(loads[2]?.since).toBeLessThanOrEqual(after);
  for (const { end } of loads) end();
  expect(await Promise.all(reads)).toEqual([1, 2, 3, 4]);
});
