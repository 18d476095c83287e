import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createPacing } from "./pacing.ts";
import { openReadings, type SourceReadings } from "./readings.ts";
import type { AddressSource, SourceReading } from "./source.ts";

const reportOf = (device: string): SourceReading => ({
  kind: "report",
  report: new Map([[device, { device, ipv4: [], ipv6: [] }]]),
});
const failure: SourceReading = { kind: "unavailable", because: "it is down", todo: "start it" };

/** Answers when it is told to. */
function openSource() {
  const waiting: ((reading: SourceReading) => void)[] = [];
  const source: AddressSource = {
    read: () => new Promise((resolve) => waiting.push(resolve)),
    follow: async () => ({ kind: "not-offered" }),
    close: () => undefined,
  };
  const tell = async (whom: (typeof waiting)[number] | undefined, reading: SourceReading) => {
    whom?.(reading);
    await pause();
  };
  return {
    source,
    asked: () => waiting.length,
    /** What it was asked last, and what it was asked first. */
    answers: (reading: SourceReading) => tell(waiting.at(-1), reading),
    answersFirst: (reading: SourceReading) => tell(waiting[0], reading),
  };
}

const { signal } = new AbortController();
const never = new Promise<void>(() => undefined);
let quick: ReturnType<typeof openSource>;
let mute: ReturnType<typeof openSource>;
let readings: SourceReadings;
let again: number;
let now: number;

beforeEach(() => {
  [quick, mute, again, now] = [openSource(), openSource(), 0, 1_000_000];
  const sources = new Map([
    ["quick", quick.source],
    ["mute", mute.source],
  ]);
  const tools = { pacing: createPacing(() => 0.5), now: () => now };
  readings = openReadings(sources, tools, () => {
    again += 1;
  });
});

/** A round that has had enough when the quick one has answered. */
async function round(reading: SourceReading = reportOf("a")): Promise<Readonly<Record<string, SourceReading["kind"]>>> {
  const found = readings.read(signal, () => pause(20));
  await quick.answers(reading);
  return Object.fromEntries([...(await found)].map(([name, { kind }]) => [name, kind]));
}

describe("sources that are asked", () => {
  it("are all waited for where there is never enough", async () => {
    const found = readings.read(signal);
    await quick.answers(reportOf("a"));
    await pause(20);
    await mute.answers(failure);
    expect([...(await found).keys()].sort()).toEqual(["mute", "quick"]);
    expect(again).toBe(0);
  });

  it("are missing while they have not answered, and are not asked twice nor waited for again", async () => {
    expect(await round()).toEqual({ quick: "report" });
    const second = readings.read(signal, () => never);
    await quick.answers(reportOf("b"));
    expect([...(await second).keys()]).toEqual(["quick"]);
    expect([quick.asked(), mute.asked()]).toEqual([2, 1]);
  });

  it("call for a round when they have answered late, which takes that answer", async () => {
    await round();
    await mute.answers(reportOf("m"));
    expect(again).toBe(1);
    expect(await round()).toEqual({ quick: "report", mute: "report" });
    expect(mute.asked()).toBe(1);
    // The next round asks anew, and takes no old report for the answer.
    expect(await round()).toEqual({ quick: "report" });
    expect(mute.asked()).toBe(2);
  });

  it("stay failed while they are asked again", async () => {
    await round();
    await mute.answers(failure);
    expect(await round()).toMatchObject({ mute: "unavailable" });
    expect(readings.due()).toEqual([undefined, now + 2_000]);
    now += 2_000;
    expect(await round()).toMatchObject({ mute: "unavailable" });
    expect(mute.asked()).toBe(2);
    expect(readings.due()).toEqual([undefined]);
  });

  it("are not waited for after a failure while others are asked", async () => {
    await round();
    await mute.answers(failure);
    await round();
    now += 2_000;
    const found = readings.read(signal, () => never);
    await quick.answers(reportOf("a"));
    expect([...(await found).values()].map(({ kind }) => kind).sort()).toEqual(["report", "unavailable"]);
    await mute.answers(reportOf("m"));
    expect(again).toBe(2);
    expect(await round()).toEqual({ quick: "report", mute: "report" });
  });

  it("are what they pushed meanwhile, until that is lost", async () => {
    await round();
    readings.pushed("mute", reportOf("m"));
    expect(await round()).toEqual({ quick: "report", mute: "report" });
    expect(readings.polled()).toEqual(["quick"]);
    await mute.answers(failure);
    expect(await round()).toEqual({ quick: "report", mute: "report" });
    expect([readings.lost("mute"), readings.lost("mute")]).toEqual([true, false]);
    expect(readings.polled()).toEqual(["quick", "mute"]);
  });

  it("are asked once more where somebody wanted to know after they were asked, and what they said is told before", async () => {
    await round();
    readings.hurry();
    await mute.answers(reportOf("m"));
    expect(await round()).toEqual({ quick: "report", mute: "report" });
    expect([mute.asked(), again]).toEqual([1, 2]);
    await round();
    expect(mute.asked()).toBe(2);
    await mute.answers(reportOf("m"));
    await round();
    expect([mute.asked(), again]).toEqual([2, 3]);
  });

  it("are not what they answer to a question from before they pushed", async () => {
    await round();
    readings.pushed("mute", reportOf("new"));
    readings.lost("mute");
    await mute.answersFirst(reportOf("old"));
    expect(await round()).toEqual({ quick: "report" });
    expect(mute.asked()).toBe(2);
    await mute.answers(reportOf("newest"));
    expect(await round()).toEqual({ quick: "report", mute: "report" });
  });
});
