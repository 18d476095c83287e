import { describe, expect, test } from "vitest";
import { batches } from "./batches.ts";

describe("the parts of a long list", () => {
  test.each<[readonly number[], number, readonly (readonly number[])[]]>([
    [[], 10, []],
    [[1, 2, 3], 10, [[1, 2, 3]]],
    [[4, 3, 3], 10, [[4, 3, 3]]],
    [[4, 3, 4], 10, [[4, 3], [4]]],
    [[11], 10, [[11]]],
    [[11, 1, 9, 1], 10, [[11], [1, 9], [1]]],
  ])("%j with room for %i: %j", (sizes, most, parts) => {
    expect(batches(sizes, (size) => size, most)).toEqual(parts);
  });
});
