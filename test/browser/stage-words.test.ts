import { expect, it } from "vitest";
import { linesOf } from "../../console/records/history/describe-change.ts";
import { dnssecBadge } from "../../console/records/zones/dnssec-badge.ts";
import { stageWords } from "../../src/records/signing/signing-texts.ts";

it.for(Object.keys(stageWords))("the history names the DNSSEC stage %s in plain words", (stage) => {
  const zone = { ttl: 60, mode: "primary", labels: {}, protection: { delete: false }, primary_nameservers: [] };
  expect(linesOf(zone, { ...zone, dnssec: { stage, denial: "nsec", parent_fault: null, keys: [] } }).come).not.toEqual([
    `DNSSEC ${stage}`,
  ]);
});

it.for(Object.keys(stageWords))("the list of zones names the DNSSEC stage %s; only secure is good", (stage) => {
  const badge = dnssecBadge({ dnssec: { stage, parent_fault: null } });
  if (stage === "secure") expect(badge).toEqual({ text: "DNSSEC", tone: "good" });
  else expect(badge?.text).toMatch(/^DNSSEC: ./);
  expect(badge?.tone === "good").toBe(stage === "secure");
});
