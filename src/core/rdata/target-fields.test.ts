import { expect, it } from "vitest";
import { targetWithoutDot } from "./target-fields.ts";

it.for([
  ["CNAME", ["www"], undefined],
  ["CNAME", ["@"], undefined],
  ["CNAME", ["host.example.net."], undefined],
  ["CNAME", ["www.dyn"], "www.dyn"],
  ["CNAME", [" host.example.net "], "host.example.net"],
  ["CNAME", ["Example.org"], "Example.org"],
  ["CNAME", ["bücher。example"], "bücher。example"],
  ["CNAME", ["one\\.label"], undefined],
  ["CNAME", ["192.0.2.1"], undefined],
  ["MX", ["10", "mail.example.org"], "mail.example.org"],
  ["SRV", ["0", "0", "443", "web.example.net"], "web.example.net"],
  ["TXT", ["v=spf1 include:mail.example.org"], undefined],
  ["A", ["192.0.2.1"], undefined],
] as const)("finds a target that lacks its final dot: %s %o", ([type, fields, found]) => {
  expect(targetWithoutDot(type, fields)).toBe(found);
});
