import { expect, onTestFinished, test } from "vitest";
import { longestHold, parseRetryAfter } from "./retry-after.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

test.each([
  ["60", 60_000],
  [" 0 ", 0],
  ["99999999", longestHold],
  ["Fri, 02 Jan 2026 03:05:05 GMT", 60_000],
  ["Friday, 02-Jan-26 03:05:05 GMT", 60_000],
  ["Fri Jan  2 03:05:05 2026", 60_000],
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

test.each(["America/New_York", "Asia/Kolkata"])("a date without a zone is GMT in %s too", (zone) => {
  const before = process.env.TZ;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });
  process.env.TZ = zone;
  expect(new Date(now).getTimezoneOffset()).not.toBe(0);
  expect(parseRetryAfter("Fri Jan  2 03:05:05 2026", now)).toBe(60_000);
});
