import { expect, it } from "vitest";
import { typedTtl, typedTtlFault } from "./ttl.ts";

it.for([
  ["20", "too short: at least 60 seconds"],
  ["30s", "too short: at least 60 seconds"],
  ["99999999999", "too long: at most 2147483647 seconds"],
  ["soon", "write 300, 5m, 1h or 1d"],
  ["-5", "write 300, 5m, 1h or 1d"],
] as const)("the TTL %s is refused with the one reason", ([typed, fault]) => {
  expect([typedTtl(typed), typedTtlFault(typed)]).toEqual([undefined, fault]);
});
