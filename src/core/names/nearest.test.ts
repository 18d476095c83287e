import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test.each([
  ["soruces", ["sources", "targets", "names"], "sources"],
  ["tartget", ["source", "target"], "target"],
  ["TTL", ["ttl", "name"], "ttl"],
  ["fingreprint", ["ca", "fingerprint", "insecure"], "fingerprint"],
  ["colour", ["ttl", "name"], undefined],
  ["tarrrget", ["target"], "target"],
  ["tarrrrget", ["target"], undefined],
  ["x", [], undefined],
] as const)("the nearest to %s among %j: %s", (word, known, expected) => {
  expect(nearest(word, known)).toBe(expected);
});
