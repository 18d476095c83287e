import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseName } from "./name.ts";
import { nameFromWire, nameToWire } from "./wire.ts";

const bytes = (...parts: readonly (number | string)[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "number" ? [part] : part.split("").map((c) => c.charCodeAt(0)))),
  );

test.each<[string, Uint8Array]>([
  ["", bytes(0)],
  ["org", bytes(3, "org", 0)],
  ["www.example.org", bytes(3, "www", 7, "example", 3, "org", 0)],
  ["a\\.b.c", bytes(3, "a.b", 1, "c", 0)],
  ["\\000\\255", bytes(2, 0, 255, 0)],
])("the wire format of %j", (name, wire) => {
  expect(nameToWire(name)).toEqual(wire);
  expect(nameFromWire(wire)).toEqual({ name, end: wire.length });
});

test("a name in upper case is the same name", () => {
  expect(nameFromWire(bytes(3, "WwW", 0))?.name).toBe("www");
});

test("a name inside a message is read up to its end", () => {
  expect(nameFromWire(bytes(9, 9, 1, "a", 0, 7, 7), 2)).toEqual({ name: "a", end: 5 });
  expect(nameFromWire(bytes(1, "a"))).toBeUndefined();
});

describe("bytes that are not a name", () => {
  test.each<[string, Uint8Array]>([
    ["nothing", bytes()],
    ["no end", bytes(1, "a")],
    ["a truncated label", bytes(5, "abc", 0)],
    ["a pointer", bytes(0xc0, 0)],
    ["a label of 64 bytes", bytes(64, "a".repeat(64), 0)],
    ["a label type that is not used", bytes(0x40, "a", 0)],
    ["256 bytes", bytes(...Array.from({ length: 127 }, () => bytes(1, "a")).flatMap((label) => [...label]), 1, "a", 0)],
  ])("%s", (_, wire) => {
    expect(nameFromWire(wire)).toBeUndefined();
  });

  test("255 bytes are still a name", () => {
    const wire = bytes(...Array.from({ length: 127 }, () => [1, 97]).flat(), 0);
    expect(wire.length).toBe(255);
    expect(nameFromWire(wire)?.end).toBe(255);
  });
});

const labels = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 8 });

describe("laws", () => {
  test("names survive a round trip through wire format", () => {
    fc.assert(
      fc.property(labels, (given) => {
        const wire = Uint8Array.from([...given.flatMap((label) => [label.length, ...label]), 0]);
        const read = nameFromWire(wire);
        if (read === undefined) throw new Error("not read");
        expect(nameFromWire(nameToWire(read.name))).toEqual(read);
        expect(parseName(`${read.name}.`)).toEqual({ ok: true, value: read.name });
      }),
    );
  });

  test("any bytes are read within their bounds or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (wire) => {
        expect(nameFromWire(wire)?.end ?? 0).toBeLessThanOrEqual(wire.length);
      }),
    );
  });
});
