import { describe, expect, it } from "vitest";
import { createZoneView, writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { labelsOf } from "../../core/names/name.ts";
import { diffSets } from "../../core/records/changes.ts";
import { changeZoneView } from "../../core/records/zone-view.ts";
import { decodeMessage } from "../../lib/dns/message.ts";
import { MessageWriter } from "../../lib/dns/message-writer.ts";
import { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { bareOpt } from "../answer/reply.ts";
import { CachedTransfers } from "./cached-transfers.ts";

const viewOf = (name: string, hosts = 50) =>
  createZoneView(
    writtenZone(name, Array.from({ length: hosts }, (_, i) => `h${i} 60 A 192.0.2.${i % 250}`).join("\n")),
  );

function headOf(name: string, id: number, type = 252): Buffer {
  const writer = new MessageWriter();
  for (const value of [id, 0x8400, 1, 0, 0, 0]) writer.u16(value);
  writer.name(labelsOf(name));
  writer.u16(type);
  writer.u16(1);
  return Buffer.from(writer.finish());
}

async function transfer(
  packed: CachedTransfers,
  view: ReturnType<typeof viewOf>,
  { id = 1, type = 252, room = 0, tail = "" } = {},
) {
  const options = {
    head: headOf(view.name, id, type),
    zoneLabels: view.labels.length,
    tail: tail === "" ? Buffer.of() : bareOpt,
    room,
  };
  return [...(await packed.messages(view, options))].map((bytes) => {
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) throw new Error(decoded.because);
    return decoded.message;
  });
}

it("sends the same to a second client, with the header of that client's request", async () => {
  const packed = new CachedTransfers(new FairSchedule());
  const view = viewOf("example.org", 3_000);
  const first = await transfer(packed, view, { id: 1 });
  expect(packed.size()).toBeGreaterThan(40_000);
  const second = await transfer(packed, view, { id: 2, type: 251 });
  expect(first.length).toBeGreaterThan(1);
  expect(second.map(({ id, questions }) => [id, questions[0]?.type])).toEqual(first.map(() => [2, 251]));
  expect(second.map(({ answers }) => answers)).toEqual(first.map(({ answers }) => answers));
  expect(first.map(({ id }) => id)).toEqual(first.map(() => 1));
});

it("never sends stale data, even under the same serial", async () => {
  const packed = new CachedTransfers(new FairSchedule());
  const view = viewOf("example.org");
  await transfer(packed, view);
  changeZoneView(view, view.serial, diffSets([], writtenSets("example.org", "new 60 A 192.0.2.9")));
  const names = (await transfer(packed, view)).flatMap(({ answers }) => answers.map(({ name }) => name));
  expect(names).toContain("new.example.org");
});

it("does not reuse messages that were packed for clients of another kind: with or without an OPT record, or room for a signature", async () => {
  const packed = new CachedTransfers(new FairSchedule());
  const view = viewOf("example.org");
  await transfer(packed, view);
  expect((await transfer(packed, view, { tail: "opt" })).every(({ edns }) => edns !== undefined)).toBe(true);
  expect((await transfer(packed, view)).every(({ edns }) => edns === undefined)).toBe(true);
  expect((await transfer(packed, view, { room: 60_000 })).length).toBeGreaterThanOrEqual(1);
});

it("holds no more than allowed: the oldest are dropped, and a zone that is too large is not cached", async () => {
  const packed = new CachedTransfers(new FairSchedule(), 8_000);
  for (let i = 0; i < 20; i++) await transfer(packed, viewOf(`z${i}.example`));
  expect(packed.size()).toBeGreaterThan(4_000);
  expect(packed.size()).toBeLessThanOrEqual(8_000);
  const before = packed.size();
  expect((await transfer(packed, viewOf("large.example", 500))).flatMap(({ answers }) => answers)).toHaveLength(502);
  expect(packed.size()).toBe(before);
});

describe("a large zone", () => {
  const size = 3_000;
  /** Runs all steps, and `other` after the first step of each run. */
  const between = (other: () => void) => {
    let begun = 0;
    const run: FairSchedule["run"] = async (_, steps) => {
      begun += 1;
      for (let step = steps.next(), first = true; ; step = steps.next(), first = false) {
        if (step.done) return step.value;
        if (first) other();
      }
    };
    return { run, begun: () => begun };
  };
  const namesIn = (messages: Awaited<ReturnType<typeof transfer>>) =>
    messages.flatMap(({ answers }) => answers.map(({ name }) => name));

  it.each([
    ["gets a new snapshot when it changes between two steps", 1, 2],
    ["that keeps changing eventually gets a snapshot without a pause", 100, 3],
  ])("%s", async (_, changes, tries) => {
    const view = viewOf("example.org", size);
    let left = changes;
    const schedule = between(() => {
      if (left-- <= 0) return;
      changeZoneView(view, view.serial + 1, diffSets([], writtenSets("example.org", `new${left} 60 A 192.0.2.9`)));
    });
    const messages = await transfer(new CachedTransfers(schedule), view);
    expect(schedule.begun()).toBe(tries);
    expect(namesIn(messages)).toHaveLength(view.size + 1);
    const answers = messages.flatMap((message) => message.answers);
    expect(answers.at(-1)).toEqual(answers[0]);
  });

  it("is prepared once for all clients that ask meanwhile", async () => {
    const schedule = between(() => {});
    const packed = new CachedTransfers(schedule);
    const view = viewOf("example.org", size);
    const all = await Promise.all([1, 2, 3].map((id) => transfer(packed, view, { id })));
    expect(schedule.begun()).toBe(1);
    expect(all.map((messages) => namesIn(messages).length)).toEqual([size + 2, size + 2, size + 2]);
  });
});
