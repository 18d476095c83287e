import { describe, expect, it } from "vitest";
import { onlyWhereItOpens } from "../../shared/choice/closed-list.ts";
import { settle } from "../../shared/choice/settle.ts";
import { typesByUse, typesFor } from "./types-by-use.ts";

/** What text in a choice field means, tested without a browser. */

describe("text in a choice field", () => {
  const zones = ["example.org", "example.com", "sub.example.org", "xn--mnchen-3ya.test"];
  const options = zones.map((value) => ({ value, label: value.replace("xn--mnchen-3ya", "münchen") }));

  it.for([
    ["", [], ""],
    ["  ", [], ""],
    ["example.org", ["example.org"], ""],
    [" Example.ORG. ", ["example.org"], ""],
    ["München.test", ["xn--mnchen-3ya.test"], ""],
    ["sub", ["sub.example.org"], ""],
    ["example", [], "example"],
    ["exampel.org", [], "exampel.org"],
    ["example.org, example.com", ["example.org", "example.com"], ""],
    ["example.org exampel.com", ["example.org"], "exampel.com"],
    ["example.org,example.org", ["example.org"], ""],
  ] as const)("becomes a choice or stays: %s", ([typed, chosen, left]) => {
    expect(settle(typed, options)).toEqual({ chosen, left });
  });

  it("stays as it is while there is nothing to choose from", () => {
    expect(settle("example.org", [])).toEqual({ chosen: [], left: "example.org" });
  });
});

it.for([
  ["a", "A"],
  ["AAAA", "AAAA"],
  ["aa", "AAAA"],
  ["mail", "MX"],
  ["x", "MX"],
  ["nothing", undefined],
] as const)("the type for %s is %s", ([typed, type]) => {
  expect(typesFor(typed, typesByUse())[0]).toBe(type);
});

it.for([
  [["CNAME"], "CNAME"],
  [["MX", "CNAME"], "CNAME"],
  [["SPF"], "A"],
  [[], "A"],
] as const)("a closed list of types in which %j is chosen opens at %s", ([chosen, at]) => {
  const options = ["A", "CNAME", "MX"].map((value) => ({ value, label: value }));
  const shown = onlyWhereItOpens(chosen)({ options, search: "", limit: Number.POSITIVE_INFINITY });
  expect(shown.map((each) => "value" in each && each.value)).toEqual([at]);
});
