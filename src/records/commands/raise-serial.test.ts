import { expect, it } from "vitest";
import { noStoredNames } from "../../core/records/dname.ts";
import { plainSettings, type Zone } from "../model.ts";
import { raiseSerialRule } from "./raise-serial.ts";

const now = Date.UTC(2026, 10, 18);
const zoneAt = (serial: number, historySince?: number): Zone => ({
  number: 1,
  id: "z",
  account: 1,
  name: "z.example",
  serial,
  created: 1,
  modified: 1,
  recordCount: 0,
  settings: { ...plainSettings(60), ...(historySince !== undefined && { historySince }) },
});

it.for([
  ["the store is behind what was sent", zoneAt(2026111803), 2026111807, 2026111808],
  ["the store has used the same serial for something else", zoneAt(2026111807), 2026111807, 2026111808],
  ["the store is ahead, but of another history", zoneAt(2026111809), 2026111807, 2026111810],
  ["it is a new day", zoneAt(2026111703), 2026111707, 2026111800],
  [
    "another node has raised it, but not above what this one has sent",
    zoneAt(2026111805, 2026111804),
    2026111807,
    2026111808,
  ],
  ["another node has raised it above what this one has sent", zoneAt(2026111809, 2026111808), 2026111807, undefined],
] as const)("the new serial is newer than everything sent out: %s", ([, zone, sent, serial]) => {
  const { settings, result, ...decision } = raiseSerialRule({
    kind: "raise-serial",
    account: 1,
    zone: "z",
    sent,
    now,
  }).decide({
    zone,
    sets: [],
    storedNames: noStoredNames,
  });
  expect([decision.serial, settings?.historySince, result]).toEqual([serial, serial, serial !== undefined]);
});
