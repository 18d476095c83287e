import { expect, it } from "vitest";
import { parentFaultKinds } from "../../../src/core/dnssec/parent-view.ts";
import { dnssecBadge } from "./dnssec-badge.ts";

it("is not there for a zone without DNSSEC", () => {
  expect(dnssecBadge({ dnssec: null })).toBeUndefined();
});

it.for(parentFaultKinds)("is never good when the parent has the fault %s", (parent_fault) => {
  const badge = dnssecBadge({ dnssec: { stage: "secure", parent_fault } });
  expect(["warn", "bad"]).toContain(badge?.tone);
});

it("claims nothing about a stage that this page does not know", () => {
  expect(dnssecBadge({ dnssec: { stage: "of a later version", parent_fault: null } })).toEqual({
    text: "DNSSEC",
    tone: "quiet",
  });
});
