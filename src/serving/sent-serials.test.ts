import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../../test/rig/until.ts";
import { compareSerials } from "../core/records/serial.ts";
import { noLog } from "../process/log.ts";
import { SentSerials } from "./sent-serials.ts";

let folder: string;
const opened: SentSerials[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-sent-"));
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = async () => {
  const sent = await SentSerials.open({ folder, log: noLog });
  opened.push(sent);
  return sent;
};
const file = (name: string) => join(folder, name);

it("a process that was killed finds marks above everything that it has sent, also past the end of the numbers", async () => {
  const sent = await open();
  const last = new Map<string, number>();
  for (let i = 0; i < 5_000; i++) {
    const zone = `z${i % 7}.example`;
    const serial = ((last.get(zone) ?? 2 ** 32 - 300) + 1) % 2 ** 32;
    last.set(zone, serial);
    sent.note(zone, serial);
    sent.notePosition(10 * i);
  }
  // Nothing is closed.
  const again = await open();
  const marks = new Map(again.marks());
  for (const [zone, serial] of last) expect(compareSerials(marks.get(zone) ?? 0, serial)).toBe(1);
  expect(marks.size).toBe(7);
  expect(again.position()).toBeGreaterThan(49_990);
});

it("few changes write to the file, and it has one line per zone after a start", async () => {
  const sent = await open();
  for (let serial = 1; serial <= 1_000; serial++) sent.note("z.example", serial);
  const lines = () => readFileSync(file("records-sent-serials"), "utf8").trim().split("\n").length;
  expect(lines()).toBeLessThan(15);
  await open();
  expect(lines()).toBe(2);
});

it("notes the place that it follows, and whether that was the last one", async () => {
  const sent = await open();
  expect(sent.left).toBeUndefined();
  let place = { position: 3, link: "a" };
  sent.follow(
    () => place,
    async () => "00000002",
  );
  const noted = () => JSON.parse(readFileSync(file("records-log-place.json"), "utf8")) as unknown;
  await until(() => statSync(file("records-log-place.json"), { throwIfNoEntry: false }) !== undefined);
  expect(noted()).toEqual({ position: 3, link: "a", timeline: "00000002", isLast: false });
  place = { position: 4, link: "b" };
  await opened.pop()?.close();
  expect((await open()).left).toEqual({ ...place, timeline: "00000002", isLast: true });
});

it("files that were damaged by a power cut do not stop a start", async () => {
  await opened.pop()?.close();
  writeFileSync(file("records-log-place.json"), '{"position":3,"li');
  writeFileSync(file("records-sent-serials"), "7 whole.example\n\0\0\0\n");
  appendFileSync(file("records-sent-serials"), "12");
  const sent = await open();
  expect([sent.left, [...sent.marks()]]).toEqual([undefined, [["whole.example", 7]]]);
});
