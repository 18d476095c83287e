import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { node } from "../../../test/rig/namespace.ts";
import { longestRetryAfter, parseRetryAfter } from "./retry-after.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

test.each([
  ["60", 60_000],
  [" 0 ", 0],
  ["99999999", longestRetryAfter],
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

test.each(["America/New_York", "Asia/Kolkata"])("a date without a time zone is GMT in %s too", (zone) => {
  // In another process: otherwise the time zone would apply to all tests of this file.
  const script = `
    import { parseRetryAfter } from ${JSON.stringify(new URL("retry-after.ts", import.meta.url).href)};
    console.log(new Date(${now}).getTimezoneOffset() !== 0, parseRetryAfter("Fri Jan  2 03:05:05 2026", ${now}));`;
  const env = { ...process.env, TZ: zone };
  const said = execFileSync(node, ["--input-type=module", "--eval", script], { env, encoding: "utf8" });
  expect(said).toBe("true 60000\n");
});
