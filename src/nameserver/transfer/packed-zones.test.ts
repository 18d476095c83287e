import { expect, it } from "vitest";
import { writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { labelsOf } from "../../core/names/name.ts";
import { diffSets } from "../../core/records/changes.ts";
import { changeZoneView, createZoneView } from "../../core/records/zone-view.ts";
import { bareOpt } from "../answer/reply.ts";
import { decodeMessage } from "../wire/message.ts";
import { createMessageWriter } from "../wire/message-writer.ts";
import { createPackedZones, type PackedZones } from "./packed-zones.ts";

const viewOf = (name: string, hosts = 50) =>
  createZoneView(
    writtenZone(name, Array.from({ length: hosts }, (_, i) => `h${i} 60 A 192.0.2.${i % 250}`).join("\n")),
  );

function headOf(name: string, id: number, type = 252): Buffer {
  const writer = createMessageWriter();
  for (const value of [id, 0x8400, 1, 0, 0, 0]) writer.u16(value);
  writer.name(labelsOf(name));
  writer.u16(type);
  writer.u16(1);
  return Buffer.from(writer.finish());
}

function transfer(
  packed: PackedZones,
  view: ReturnType<typeof viewOf>,
  { id = 1, type = 252, room = 0, tail = "" } = {},
) {
  const options = {
    head: headOf(view.name, id, type),
    zoneLabels: view.labels.length,
    tail: tail === "" ? Buffer.of() : bareOpt,
    room,
  };
  return [...packed.messages(view, options)].map((bytes) => {
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) throw new Error(decoded.because);
    return decoded.message;
  });
}

it("gives the second who asks the same, under the head of the own request", () => {
  const packed = createPackedZones();
  const view = viewOf("example.org", 3_000);
  const first = transfer(packed, view, { id: 1 });
  expect(packed.size()).toBeGreaterThan(40_000);
  const second = transfer(packed, view, { id: 2, type: 251 });
  expect(first.length).toBeGreaterThan(1);
  expect(second.map(({ id, questions }) => [id, questions[0]?.type])).toEqual(first.map(() => [2, 251]));
  expect(second.map(({ answers }) => answers)).toEqual(first.map(({ answers }) => answers));
  expect(first.map(({ id }) => id)).toEqual(first.map(() => 1));
});

it("never gives what has changed, even under the same serial", () => {
  const packed = createPackedZones();
  const view = viewOf("example.org");
  transfer(packed, view);
  changeZoneView(view, view.serial, diffSets([], writtenSets("example.org", "new 60 A 192.0.2.9")));
  const names = transfer(packed, view).flatMap(({ answers }) => answers.map(({ name }) => name));
  expect(names).toContain("new.example.org");
});

it("keeps apart who has an OPT record or a signature in each message", () => {
  const packed = createPackedZones();
  const view = viewOf("example.org");
  transfer(packed, view);
  expect(transfer(packed, view, { tail: "opt" }).every(({ edns }) => edns !== undefined)).toBe(true);
  expect(transfer(packed, view).every(({ edns }) => edns === undefined)).toBe(true);
  expect(transfer(packed, view, { room: 60_000 }).length).toBeGreaterThanOrEqual(1);
});

it("holds no more than it may: the first leave, and what is too large is not kept", () => {
  const packed = createPackedZones(8_000);
  for (let i = 0; i < 20; i++) transfer(packed, viewOf(`z${i}.example`));
  expect(packed.size()).toBeGreaterThan(4_000);
  expect(packed.size()).toBeLessThanOrEqual(8_000);
  const before = packed.size();
  expect(transfer(packed, viewOf("large.example", 500)).flatMap(({ answers }) => answers)).toHaveLength(502);
  expect(packed.size()).toBe(before);
});
