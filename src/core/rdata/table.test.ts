import { describe, expect, test } from "vitest";
import { definitionOf, isRecordType, recordTypes, typeCode, typeFromCode } from "./table.ts";

test("the types and the numbers that IANA gave them", () => {
  expect(Object.fromEntries(recordTypes.map((type) => [type, typeCode(type)]))).toEqual({
    A: 1,
    AAAA: 28,
    CAA: 257,
    CNAME: 5,
    MX: 15,
    NS: 2,
    PTR: 12,
    SOA: 6,
    SRV: 33,
    TXT: 16,
  });
});

test.each(["", "a", "Txt", "ANY", "constructor", "__proto__", "A "])("%j is no type", (text) => {
  expect(isRecordType(text)).toBe(false);
});

describe.each(recordTypes)("%s", (type) => {
  test("is found by its number", () => {
    expect(typeFromCode(typeCode(type))).toBe(type);
  });

  test("tells a person what it takes", () => {
    expect(definitionOf(type).todo).toMatch(new RegExp(`^an? ${type} record takes .* such as `));
  });

  test("only its last field may take the rest, and names differ", () => {
    const { fields } = definitionOf(type);
    expect(fields.slice(0, -1).every((field) => field.kind.takes === "one")).toBe(true);
    expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length);
  });
});

test("a number that is no type's", () => {
  expect(typeFromCode(65_280)).toBeUndefined();
});
