import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createEventStreamReader } from "./event-stream.ts";

const read = (...chunks: readonly string[]) => {
  const reader = createEventStreamReader(1000);
  return chunks.flatMap((chunk) => reader.feed(chunk));
};

describe("a stream of events", () => {
  test.each([
    ["one event", "event: change\ndata: {}\n\n", [["change", "{}"]]],
    ["without a name", "data: x\n\n", [["message", "x"]]],
    ["data of two lines", "data: a\ndata: b\n\n", [["message", "a\nb"]]],
    ["no blank after the colon", "data:a\n\n", [["message", "a"]]],
    ["comments", ": heartbeat\n\n:\n\n", []],
    ["an event without data", "event: change\n\n", []],
    ["unfinished", "data: a\n", []],
    ["CRLF", "event: change\r\ndata: a\r\n\r\n", [["change", "a"]]],
    [
      "CR",
      "data: a\r\rdata: b\r\r\n",
      [
        ["message", "a"],
        ["message", "b"],
      ],
    ],
    ["unknown fields", "colour: red\ndata: a\n\n", [["message", "a"]]],
  ])("%s", (_, text, expected) => {
    expect(read(text).map(({ event, data }) => [event, data])).toEqual(expected);
  });

  it("keeps the last id and the retry time", () => {
    const reader = createEventStreamReader(1000);
    const events = reader.feed("retry: 2500\nid: 7\ndata: a\n\ndata: b\n\n");
    expect(events.map(({ id }) => id)).toEqual(["7", "7"]);
    expect(reader.retry()).toBe(2500);
  });

  it("refuses an endless event", () => {
    expect(() => read("data: ".concat("x".repeat(1001), "\n"))).toThrow(/too long/);
    expect(() => read("x".repeat(2001))).toThrow(/too long/);
    expect(() => read("data\n".repeat(500), "data:\n".repeat(501))).toThrow(/too long/);
  });

  it("reads the same however the text is split", () => {
    const text = "id: 1\r\nevent: snapshot\r\ndata: {\r\ndata: }\r\n\r\n: beat\n\nevent: change\ndata: é\n\n";
    const whole = read(text);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        expect(read(...places.slice(1).map((end, i) => text.slice(places[i], end)))).toEqual(whole);
      }),
    );
  });
});
