import fc from "fast-check";
import { expect, it } from "vitest";
import { finish, sortInSteps } from "./steps.ts";

it("sorts like `toSorted`, in steps", () => {
  const compare = (a: number, b: number) => a - b;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 3_000, size: "max" }), (numbers) => {
      expect(finish(sortInSteps(numbers, compare))).toEqual(numbers.toSorted(compare));
    }),
    { numRuns: 20 },
  );
});
