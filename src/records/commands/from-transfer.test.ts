import { expect, it } from "vitest";
import { noStoredNames } from "../../core/records/dname.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { ZoneLine } from "../../core/records/zone-lines.ts";
import { finish, inSteps } from "../../core/steps.ts";
import { plainSettings, type Zone } from "../model.ts";
import { type TransferredContent, transferRule } from "./from-transfer.ts";

const zone: Zone = {
  number: 1,
  id: "z",
  account: 1,
  name: "example.org",
  serial: 1,
  recordCount: 1,
  created: 1,
  modified: 1,
  settings: { ...plainSettings(60), mode: "secondary" },
};
const line = (owner: string, type: ZoneLine["type"], rdata: string): ZoneLine => ({ owner, type, ttl: 60, rdata });
const soa = (serial: number) => line("@", "SOA", `ns1.example. hostmaster.example. ${serial} 7200 900 3600 300`);
/** 254 bytes on the wire, with the zone. */
const long = line([60, 60, 60, 57].map((count) => "a".repeat(count)).join("."), "A", "192.0.2.1");
const parameters = line("@", "TYPE51", "\\# 5 0100000000");

type Sets = readonly RRset[];

const deciding = (content: TransferredContent, sets: Sets = []) => {
  const { decide } = transferRule({ kind: "transfer", account: 1, zone: "z", content, parts: 1, now: 5 });
  return inSteps(decide([{ zone, sets, storedNames: noStoredNames }]));
};
const stored = (content: TransferredContent, sets: Sets = []) => {
  const { decisions, result } = finish(deciding(content, sets));
  return { result, wanted: decisions[0]?.wanted };
};
const whole = (...lines: readonly ZoneLine[]): TransferredContent => ({
  kind: "whole",
  serial: 2,
  lines: [soa(2), ...lines],
});
const step = (...added: readonly ZoneLine[]): TransferredContent => ({
  kind: "steps",
  serial: 2,
  since: 1,
  steps: [{ removed: [soa(1)], added: [soa(2), ...added] }],
});
const setsOf = (...lines: readonly ZoneLine[]): Sets =>
  stored({ kind: "whole", serial: 1, lines: [soa(1), ...lines] }).wanted ?? [];

it("refuses an NSEC3-signed zone with a name that makes NSD crash, for all zones of a secondary", () => {
  expect(stored(whole(long)).result).toEqual({ kind: "done" });
  expect(stored(whole(parameters)).result).toEqual({ kind: "done" });
  const refused = { kind: "refused", faults: [{ code: "name-too-long-for-nsec3", where: long.owner }] };
  expect(stored(whole(parameters, long)).result).toMatchObject(refused);
  expect(stored(step(long), setsOf(parameters)).result).toMatchObject(refused);
  expect(stored(step(long), setsOf()).result).toEqual({ kind: "done" });
});

it("takes an incremental transfer after which a zone uses NSEC3 only as a whole one, which shows all names", () => {
  expect(stored(step(parameters), setsOf()).result).toEqual({ kind: "does-not-fit" });
  expect(stored(step(), setsOf(parameters)).result).toEqual({ kind: "done" });
});

it("passes on what makes other servers refuse only this zone", () => {
  const dname = line("old", "TYPE39", "\\# 3 016100");
  const odd = [dname, line("www.old", "A", "192.0.2.1"), line("ssh", "TYPE44", "\\# 0")];
  expect(stored(whole(...odd)).result).toEqual({ kind: "done" });
});

it("decides about a large transfer in steps, a few per set: between two of them, others get their turn", () => {
  const lines = Array.from({ length: 3_000 }, (_, i) => line(`h${i}`, "A", "192.0.2.1"));
  const steps = deciding(whole(...lines));
  let count = 1;
  while (!steps.next().done) count += 1;
  expect(count).toBeGreaterThan(3 * lines.length);
});
