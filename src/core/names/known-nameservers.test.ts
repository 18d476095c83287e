import { expect, it } from "vitest";
import { knownNameservers } from "./known-nameservers.ts";

it("nameservers that nobody has set are not for a registrar", () => {
  expect(knownNameservers(["ns1.moor.invalid", "ns2.moor.invalid."])).toEqual([]);
  expect(knownNameservers(["ns1.example.net", "ns.invalid.example."])).toEqual([
    "ns1.example.net",
    "ns.invalid.example.",
  ]);
});
