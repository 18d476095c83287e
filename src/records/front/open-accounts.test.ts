import { expect, test } from "vitest";
import { forwardClock } from "./open-accounts.ts";

test("goes on from where it was when the clock is set back", () => {
  let time = 1_000;
  const now = forwardClock(() => time);
  const seen = [1_000, 1_500, 200, 300, 5_000].map((each) => {
    time = each;
    return now();
  });
  expect(seen).toEqual([1_000, 1_500, 1_500, 1_600, 6_300]);
});
