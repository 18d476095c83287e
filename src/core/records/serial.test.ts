import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareSerials, nextSerial, serialOf, withSerial } from "./serial.ts";

const noon = Date.UTC(2026, 2, 9, 12);

describe("the next serial on 2026-03-09", () => {
  test.each([
    [0, 2026030900],
    [2026030899, 2026030900],
    [2026030900, 2026030901],
    [2026030999, 2026031000],
    [2027010100, 2027010101],
    [4294967295, 2026030900],
    // 2^31 ahead of today, where RFC 1982 defines no order, and one on either side.
    [(2026030900 + 2 ** 31) % 2 ** 32, (2026030901 + 2 ** 31) % 2 ** 32],
    [2026030899 + 2 ** 31, 2026030900 + 2 ** 31],
    [2026030901 + 2 ** 31, 2026030900],
  ])("after %d is %d", (current, next) => {
    expect(nextSerial(current, noon)).toBe(next);
  });
});

test("the day is in UTC", () => {
  expect(nextSerial(1, Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toBe(2026123100);
  expect(nextSerial(1, Date.UTC(2027, 0, 1))).toBe(2027010100);
});

test.each([
  [1, 1, 0],
  [2, 1, 1],
  [1, 2, -1],
  [0, 4294967295, 1],
  [4294967295, 0, -1],
  [2 ** 31 - 1, 0, 1],
  [2 ** 31, 0, undefined],
  [0, 2 ** 31, undefined],
  [2 ** 31 + 1, 0, -1],
])("%d compared with %d: %s", (a, b, expected) => {
  expect(compareSerials(a, b)).toBe(expected);
});

test("the serial in the text of an SOA is read and replaced", () => {
  const soa = "ns1.example.org. host\\032master.example.org. 7 86400 10800 3600000 3600";
  expect(serialOf(soa)).toBe(7);
  expect(withSerial(soa, 8)).toBe("ns1.example.org. host\\032master.example.org. 8 86400 10800 3600000 3600");
  expect(() => serialOf("nonsense")).toThrow("SOA");
});

const serial = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe("laws", () => {
  test("the next serial is always newer, and valid", () => {
    fc.assert(
      fc.property(serial, fc.integer({ min: 0, max: Date.UTC(2100, 0) }), (current, now) => {
        const next = nextSerial(current, now);
        expect(compareSerials(next, current)).toBe(1);
        expect(next).toBeGreaterThanOrEqual(0);
        expect(next).toBeLessThan(2 ** 32);
      }),
    );
  });

  test("comparing the other way round gives the opposite", () => {
    fc.assert(
      fc.property(serial, serial, (a, b) => {
        const [there, back] = [compareSerials(a, b), compareSerials(b, a)];
        expect(there === undefined ? back : there + (back ?? Number.NaN)).toBe(there === undefined ? undefined : 0);
      }),
    );
  });
});
