import { expect, test } from "vitest";
import { roomAgainAt } from "./quota.ts";

const now = 1_700_000_000_000;
const headers = (limit: number, remaining: number, reset: number) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(reset),
});

test.each([
  ["v1, plenty left", headers(300, 200, 12), undefined],
  ["v1, used up: at the reset, in seconds from now", headers(300, 0, 12), now + 12_000],
  ["v1, nearly used up", headers(300, 3, 12), now + 12_000],
  ["v1, a limit smaller than the reserve", headers(2, 2, 12), undefined],
  ["rrsets, plenty left", headers(3600, 3500, now / 1000 + 100), undefined],
  ["rrsets, used up: as soon as it has a reserve again", headers(3600, 0, now / 1000 + 3600), now + 4_000],
  ["rrsets, nearly used up", headers(3600, 2, now / 1000 + 3598), now + 2_000],
  ["rrsets, full again by the clock", headers(3600, 0, now / 1000 - 5), now],
  ["an unreasonable reset", headers(300, 0, 999_999), now + 3_600_000],
  ["no limit sent, plenty left", { "ratelimit-remaining": "200", "ratelimit-reset": "12" }, undefined],
  [
    "no limit sent, used up: when it is full",
    { "ratelimit-remaining": "0", "ratelimit-reset": String(now / 1000 + 100) },
    now + 100_000,
  ],
  ["no reset sent", { "ratelimit-limit": "300", "ratelimit-remaining": "0" }, undefined],
  ["no headers", {}, undefined],
  ["not a number", { ...headers(300, 0, 12), "ratelimit-remaining": "many" }, undefined],
])("%s", (_, given, expected) => expect(roomAgainAt(given, now)).toBe(expected));
