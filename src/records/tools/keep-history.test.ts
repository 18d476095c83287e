import { describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { dropHistory, dropSomeHistory } from "./keep-history.ts";
import type { Row } from "./tables/table.ts";

/** A log in memory with rows `[zone, serial, at]`; positions count from 1. */
function logOf(rows: readonly (readonly [zone: number, serial: number, at: number])[]) {
  let kept: readonly Row[] = rows.map(([zone, serial, at], i) => [i + 1, 1, zone, "z", serial, at, "a", "{}"]);
  const steps: number[] = [];
  return {
    read: async (_: unknown, { after, limit }: { readonly after?: Row | undefined; readonly limit: number }) =>
      kept.filter((row) => Number(row[0]) > Number(after?.[0] ?? 0)).slice(0, limit),
    removeUpTo: async (_: unknown, [position]: Row) => {
      const left = kept.filter((row) => Number(row[0]) > Number(position));
      steps.push(kept.length - left.length);
      kept = left;
    },
    positions: () => kept.map((row) => row[0]),
    steps,
  };
}

const write = (serial: number, at: number, rows = 1) => Array.from({ length: rows }, () => [1, serial, at] as const);
const all = (before: number) => ({ before, rest: 0, signal: AbortSignal.timeout(patience) });

describe("the history that is kept", () => {
  it("begins with the first change that is recent enough", async () => {
    const log = logOf([...write(1, 10), ...write(2, 20, 2), ...write(3, 30), ...write(4, 40)]);
    expect(await dropHistory(log, all(30))).toBe(3);
    expect(log.positions()).toEqual([4, 5]);
  });

  it("always includes the last change, which marks the end of the log", async () => {
    const log = logOf([...write(1, 10), ...write(2, 20), ...write(3, 30, 2)]);
    await dropHistory(log, all(1_000));
    expect(log.positions()).toEqual([3, 4]);
  });

  it("includes the whole last write, even if that is longer than a step", async () => {
    const log = logOf(write(1, 10, 4));
    expect(await dropSomeHistory(log, 1_000, 3)).toBe(0);
    expect(log.positions()).toEqual([1, 2, 3, 4]);
  });

  it("is cut a few changes at a time", async () => {
    const log = logOf(Array.from({ length: 2_000 }, (_, i) => [1, i, i] as const));
    expect(await dropHistory(log, all(1_700))).toBe(1_700);
    expect(Math.max(...log.steps)).toBeLessThanOrEqual(500);
  });

  it.each([3, 4, 5, 9, 10, 11, 30])("never contains part of a write, with steps of %i", async (most) => {
    const log = logOf([...write(1, 10, 4), ...write(2, 20, 10), ...write(3, 30, 3), ...write(4, 40)]);
    const seen = [log.positions()[0]];
    while ((await dropSomeHistory(log, 40, most)) > 0) seen.push(log.positions()[0]);
    expect([1, 5, 15, 18]).toEqual(expect.arrayContaining(seen));
    expect(log.positions()).toEqual([18]);
  });

  it("is unchanged if nothing is old, or if it is empty", async () => {
    expect(await dropHistory(logOf([]), all(10))).toBe(0);
    expect(await dropHistory(logOf(write(1, 10)), all(1_000))).toBe(0);
    expect(await dropHistory(logOf([...write(1, 10), ...write(2, 20)]), all(5))).toBe(0);
  });
});
