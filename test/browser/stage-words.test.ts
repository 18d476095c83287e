import { expect, it } from "vitest";
import { linesOf } from "../../console/records/history/describe-change.ts";
import { stageWords } from "../../src/records/signing/signing-texts.ts";

it.for(Object.keys(stageWords))("the history names the DNSSEC stage %s in plain words", (stage) => {
  const zone = { ttl: 60, mode: "primary", labels: {}, protection: { delete: false }, primary_nameservers: [] };
  expect(linesOf(zone, { ...zone, dnssec: { stage, keys: [] } }).come).not.toEqual([`DNSSEC ${stage}`]);
});
