import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { StoredAddress } from "./merge-state.ts";
import { mergeState, type StateContent } from "./merge-state.ts";

type Side = readonly [address: string, minute: number, version: number, doubt?: "doubt" | undefined];
const entryOf = ([address, minute, , doubt]: Side): StoredAddress => ({
  address,
  storedAt: new Date(minute * 60_000).toISOString(),
  ...(doubt ? { inDoubt: true } : {}),
});
const contentOf = (side: Side): StateContent => ({
  entries: { k: entryOf(side) },
  holds: {},
  versions: { k: side[2] },
  events: {},
});

/** `follows`: ours is not in the file yet, and was stored after the entry of that version. */
const cases: [string, Side, Side, number | undefined, Side, boolean][] = [
  ["the same", ["a", 1, 4], ["a", 1, 4], undefined, ["a", 1, 4], false],
  ["theirs is later", ["a", 1, 4], ["b", 2, 5], undefined, ["b", 2, 5], false],
  ["theirs is later, by a clock that is behind", ["a", 9, 4], ["b", 2, 5], undefined, ["b", 2, 5], false],
  ["theirs is later and in doubt", ["a", 9, 4], ["a", 9, 5, "doubt"], undefined, ["a", 9, 5, "doubt"], false],
  ["theirs is later and out of doubt", ["a", 9, 4, "doubt"], ["a", 1, 5], undefined, ["a", 1, 5], false],
  ["they overwrote ours", ["a", 1, 5], ["b", 9, 4], undefined, ["a", 1, 5], true],
  ["both were stored independently", ["a", 1, 5], ["b", 9, 5], undefined, ["b", 9, 5, "doubt"], true],
  [
    "both were stored independently, ours by the later clock",
    ["a", 9, 5],
    ["b", 1, 5],
    undefined,
    ["a", 9, 5, "doubt"],
    true,
  ],
  ["both were stored independently, with the same address", ["a", 1, 5], ["a", 9, 5], undefined, ["a", 9, 5], false],
  [
    "both were stored independently, one in doubt",
    ["a", 1, 5, "doubt"],
    ["a", 1, 5],
    undefined,
    ["a", 1, 5, "doubt"],
    true,
  ],
  ["ours is new and follows theirs", ["a", 1, 5], ["b", 9, 4], 4, ["a", 1, 5], true],
  ["ours is new and does not know theirs", ["a", 1, 5], ["b", 9, 5], 4, ["b", 9, 6, "doubt"], true],
  ["ours is new and does not know several of theirs", ["a", 1, 5], ["b", 9, 8], 4, ["b", 9, 9, "doubt"], true],
  [
    "ours was stored twice, is not in the file yet, and does not know theirs",
    ["a", 10, 6],
    ["b", 9, 5],
    4,
    ["a", 10, 6, "doubt"],
    true,
  ],
  ["ours is new and theirs says the same", ["a", 1, 5], ["a", 1, 5], 4, ["a", 1, 6], true],
];

describe("what two processes have stored", () => {
  test.each(cases)("%s", (_, own, other, follows, expected, lacks) => {
    const ours = contentOf(own);
    const unsaved = new Map(follows === undefined ? [] : [["k", follows]]);
    expect([mergeState(ours, contentOf(other), unsaved), ours]).toEqual([lacks, contentOf(expected)]);
  });

  it("includes what only one has, and the longer of two holds", () => {
    const ours: StateContent = { ...contentOf(["a", 1, 1]), holds: { x: 5, y: 9 } };
    const theirs = {
      ...contentOf(["a", 1, 1]),
      entries: { l: entryOf(["b", 2, 0]) },
      holds: { x: 7, y: 3 },
      versions: { l: 3 },
    };
    expect(mergeState(ours, theirs, new Map())).toBe(true);
    expect(ours).toEqual({
      entries: { k: entryOf(["a", 1, 0]), l: entryOf(["b", 2, 0]) },
      holds: { x: 7, y: 9 },
      versions: { k: 1, l: 3 },
      events: {},
    });
  });

  const side = fc.tuple(
    fc.constantFrom("a", "b"),
    fc.integer({ min: 0, max: 2 }),
    fc.integer({ min: 1, max: 2 }),
    fc.option(fc.constant("doubt" as const), { nil: undefined }),
  );

  it("is the same for both, whichever reads the other's", () => {
    fc.assert(
      fc.property(side, side, (one, other) => {
        const [left, right] = [contentOf(one), contentOf(other)];
        mergeState(left, contentOf(other), new Map());
        mergeState(right, contentOf(one), new Map());
        expect(left).toEqual(right);
        // And settled: nothing is left to merge.
        expect(mergeState(left, structuredClone(right), new Map())).toBe(false);
      }),
    );
  });
});
