import { describe, expect, test } from "vitest";
import {
  adviceOf,
  definitionOf,
  isKnownType,
  isRecordType,
  parseType,
  recordTypes,
  typeCode,
  typeFromCode,
} from "./table.ts";

test("types have the numbers that IANA assigned", () => {
  expect(Object.fromEntries(recordTypes.map((type) => [type, typeCode(type)]))).toEqual({
    A: 1,
    AAAA: 28,
    CAA: 257,
    CNAME: 5,
    DS: 43,
    HINFO: 13,
    HTTPS: 65,
    MX: 15,
    NS: 2,
    PTR: 12,
    RP: 17,
    SOA: 6,
    SRV: 33,
    SVCB: 64,
    TLSA: 52,
    TXT: 16,
  });
});

describe("types without a name (RFC 3597)", () => {
  test.each(["TYPE65280", "TYPE3", "TYPE256", "TYPE65535"] as const)("%s", (type) => {
    expect(isRecordType(type)).toBe(true);
    expect(isKnownType(type)).toBe(false);
    expect(typeFromCode(typeCode(type))).toBe(type);
  });

  test("a type with a name has only that name", () => {
    expect(typeFromCode(28)).toBe("AAAA");
    expect(isRecordType("TYPE28")).toBe(false);
    expect(parseType("type28")).toBe("AAAA");
  });
});

const noTypes = [
  "",
  "ANY",
  "constructor",
  "__proto__",
  "A ",
  "TYPE",
  "TYPE0",
  "TYPE41",
  "TYPE255",
  "TYPE65536",
  "TYPE1e3",
];

test.each(["a", "Txt", "type65280", "TYPE065", "TYPE1", ...noTypes])("%j is not a type as an API writes it", (text) => {
  expect(isRecordType(text)).toBe(false);
});

test.each(["H\u0131NFO", "aaaa ", ...noTypes])("%j is not a type in a zone file", (text) => {
  expect(parseType(text)).toBeUndefined();
});

test.each([
  ["a", "A"],
  ["Txt", "TXT"],
  ["type65280", "TYPE65280"],
  ["TYPE065", "HTTPS"],
  ["CNAME", "CNAME"],
])("a zone file's %j is %s", (text, type) => {
  expect(parseType(text)).toBe(type);
});

describe.each(recordTypes)("%s", (type) => {
  test("is found by its number", () => {
    expect(typeFromCode(typeCode(type))).toBe(type);
  });

  test("has an example for the user", () => {
    expect(adviceOf(type)).toMatch(new RegExp(`^an? ${type} record takes .* such as `));
  });

  test("only its last field may take the rest, and its field names differ", () => {
    const { fields } = definitionOf(type);
    expect(fields.slice(0, -1).every((field) => field.kind.takes === "one")).toBe(true);
    expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length);
  });
});

test.each([0, 41, 128, 255, 65_536, -1, 1.5, Number.NaN])("%j is not the number of a record type", (code) => {
  expect(typeFromCode(code)).toBeUndefined();
});
