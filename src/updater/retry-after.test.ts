import { expect, test } from "vitest";
import { longestHold, parseRetryAfter } from "./retry-after.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

test.each([
  ["60", 60_000],
  [" 0 ", 0],
  ["99999999", longestHold],
  ["Fri, 02 Jan 2026 03:05:05 GMT", 60_000],
  ["Friday, 02-Jan-26 03:05:05 GMT", 60_000],
  ["Fri Jan  2 03:05:05 2026 GMT", 60_000],
  ["Fri, 02 Jan 2026 03:00:00 GMT", 0],
  ["-5", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
] as const)("Retry-After: %s", (header, expected) => {
  expect(parseRetryAfter(header, now)).toBe(expected);
});
