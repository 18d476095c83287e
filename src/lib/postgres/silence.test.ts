import { EventEmitter } from "node:events";
import type { Client } from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Silence } from "./silence.ts";

let now = 0;
let silences = 0;
let silence: Silence;
beforeEach(() => {
  [now, silences] = [0, 0];
  const onSilence = () => {
    silences += 1;
  };
  silence = new Silence({ onSilence, limit: 1_000, now: () => now });
});
afterEach(() => silence.close());

function watched() {
  const stream = { bytesRead: 0 };
  const client = Object.assign(new EventEmitter(), { connection: { stream } });
  silence.watch(client as unknown as Client);
  return { stream, end: () => client.emit("end") };
}
const pass = (milliseconds: number) => {
  for (const end = now + milliseconds; now < end; ) {
    now += 250;
    silence.check();
  }
};

it("a server of which nothing arrives on any connection is silent, until something does", () => {
  const [one, two] = [watched(), watched()];
  pass(1_000);
  expect(silences).toBe(0);
  pass(250);
  expect(silences).toBe(1);
  one.stream.bytesRead += 5;
  pass(1_000);
  expect(silences).toBe(1);
  two.stream.bytesRead += 5;
  pass(1_000);
  expect(silences).toBe(1);
  pass(500);
  expect(silences).toBe(2);
});

it("a connection that came and went between two looks was heard", () => {
  pass(1_000);
  const short = watched();
  short.stream.bytesRead = 9;
  short.end();
  pass(1_000);
  expect(silences).toBe(0);
});

it("time in which this process could not read does not count", () => {
  now += 60_000;
  silence.check();
  expect(silences).toBe(0);
});

it("pauses of this process do not hide a server that is silent", () => {
  pass(750);
  for (let pauses = 0; pauses < 3; pauses++) {
    now += 60_000;
    silence.check();
  }
  // What arrived during a pause is read after it.
  expect(silences).toBe(0);
  pass(500);
  expect(silences).toBeGreaterThan(0);
});

it("what arrived during a pause of this process is heard after it", () => {
  const one = watched();
  pass(1_000);
  now += 60_000;
  silence.check();
  one.stream.bytesRead += 5;
  pass(1_000);
  expect(silences).toBe(0);
});
