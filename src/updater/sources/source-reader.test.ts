import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BackOffs } from "../../lib/limits/failure-delay.ts";
import type { AddressSource, SourceReading } from "./source.ts";
import { SourceReader } from "./source-reader.ts";

const reportOf = (device: string): SourceReading => ({
  kind: "report",
  report: new Map([[device, { device, ipv4: [], ipv6: [] }]]),
});
const failure: SourceReading = { kind: "unavailable", because: "it is down", todo: "start it" };

let questions: { readonly signal: AbortSignal; readonly answer: (reading: SourceReading) => void }[];
let push: (reading: SourceReading) => void;
let now: number;
let news: number;
let stop: AbortController;
let reader: SourceReader;
let backOffs: BackOffs;

beforeEach(() => {
  [questions, now, news, stop] = [[], 1_000_000, 0, new AbortController()];
  const source: AddressSource = {
    read: (signal) => new Promise((answer) => questions.push({ signal, answer })),
    follow: (hear, signal) => {
      push = hear;
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({ kind: "ended" })));
    },
    close: () => undefined,
  };
  backOffs = new BackOffs(() => 0.5);
  reader = new SourceReader("home", source, { backOffs, now: () => now, random: () => 0.5 });
  void reader.follow(() => void news++, stop.signal);
});
afterEach(() => stop.abort());

const read = () => reader.read(stop.signal);
const answer = async (reading: SourceReading, question = questions.at(-1)) => {
  question?.answer(reading);
  await nextTurn();
};
const devices = () => {
  const latest = reader.latest();
  return latest?.kind === "report" ? [...latest.report.keys()] : latest?.kind;
};

describe("a polled source", () => {
  it("is unknown before its first answer, and is not polled twice meanwhile", async () => {
    const both = Promise.all([read(), read()]);
    expect([questions.length, devices()]).toEqual([1, undefined]);
    await answer(reportOf("a"));
    await both;
    expect(devices()).toEqual(["a"]);
  });

  it("is polled again by each later read", async () => {
    void read();
    await answer(reportOf("a"));
    void read();
    await answer(reportOf("b"));
    expect([questions.length, devices()]).toEqual([2, ["b"]]);
  });

  it("is not polled for a while after a failure, and stays failed during the next poll", async () => {
    void read();
    await answer(failure);
    expect([devices(), reader.retryAt()]).toEqual(["unavailable", now + 2_000]);
    await read();
    expect(questions).toHaveLength(1);
    now += 2_000;
    void read();
    expect([questions.length, devices()]).toEqual([2, "unavailable"]);
    await answer(reportOf("a"));
    expect([devices(), reader.retryAt()]).toEqual([["a"], undefined]);
  });

  it("is polled on request, even soon after a failure", async () => {
    void read();
    await answer(failure);
    backOffs.retryNow();
    void read();
    expect(questions).toHaveLength(2);
  });
});

describe("a source that pushes", () => {
  it("is not polled until it stops pushing", async () => {
    push(reportOf("p"));
    await read();
    expect([questions.length, devices(), reader.isPushing(), news]).toEqual([0, ["p"], true, 1]);
    // Unreadable data is ignored.
    push(failure);
    expect([devices(), reader.isPushing(), news]).toEqual([["p"], false, 2]);
    push(failure);
    expect(news).toBe(2);
    void read();
    expect(questions).toHaveLength(1);
  });

  it("ends a poll under way: its caller continues with what was pushed", async () => {
    const reading = read();
    push(reportOf("new"));
    expect(questions[0]?.signal.aborted).toBe(true);
    await answer(failure);
    await reading;
    expect([questions.length, devices(), reader.retryAt(), news]).toEqual([1, ["new"], undefined, 0]);
  });

  it("is polled again if the poll began before the push", async () => {
    const reading = read();
    push(reportOf("new"));
    push(failure);
    await answer(reportOf("old"), questions[0]);
    expect([questions.length, devices()]).toEqual([2, ["new"]]);
    await answer(reportOf("newest"));
    await reading;
    expect(devices()).toEqual(["newest"]);
  });

  it("ends the back-off of an earlier failure", async () => {
    void read();
    await answer(failure);
    push(reportOf("p"));
    expect(reader.retryAt()).toBeUndefined();
  });
});
