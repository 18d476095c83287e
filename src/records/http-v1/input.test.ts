import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRdata } from "../../core/rdata/rdata.ts";
import { bulkFromWire, changedRecordFromWire, primaryServerFromWire, recordFromWire, zoneFromWire } from "./input.ts";
import { readV1Value } from "./text.ts";

const good = { zone_id: "z", type: "A", name: "www", value: "192.0.2.1" };

describe("bodies of the v1 API", () => {
  it.each([
    ["a record", recordFromWire],
    ["a record with its id", changedRecordFromWire],
    ["a zone", zoneFromWire],
    ["a bulk", bulkFromWire],
    ["a primary server", primaryServerFromWire],
  ])("of any JSON become %s or faults, each with a place", (_, read) => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        const result = read(body);
        if (!result.ok) {
          expect(result.faults.length).toBeGreaterThan(0);
          for (const fault of result.faults) expect(fault.where).not.toBe("");
        }
      }),
    );
  });

  it("with any further keys mean the same", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (more) => {
        expect(recordFromWire({ ...more, ttl: 7, ...good })).toEqual(recordFromWire({ ttl: 7, ...good }));
      }),
    );
  });

  it("take a TTL as a number or as its text", () => {
    fc.assert(
      fc.property(fc.nat(2_147_483_647), (ttl) => {
        const read = (value: unknown) => recordFromWire({ ...good, ttl: value });
        expect(read(ttl)).toMatchObject({ ok: true, value: { draft: { ttl } } });
        expect(read(String(ttl))).toEqual(read(ttl));
      }),
    );
  });
});

describe("TXT values of the v1 API", () => {
  const text = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 700 })
    .filter((value) => !/^\s*"|[\0\r\n]/.test(value));

  it("mean the very bytes that were sent, in strings of up to 255", () => {
    fc.assert(
      fc.property(text, (value) => {
        const rdata = parseRdata("TXT", readV1Value("TXT", value).text, "example.org");
        if (!rdata.ok) throw new Error(JSON.stringify(rdata.faults));
        const strings = Object.values(rdata.value.fields)
          .flat()
          .map((each) => Buffer.from(String(each), "latin1"));
        expect(Buffer.concat(strings).toString("utf8")).toBe(value);
      }),
    );
  });

  it("come back as sent up to 255 bytes; what comes back for longer ones means the same", () => {
    fc.assert(
      fc.property(text, (value) => {
        const first = readV1Value("TXT", value);
        if (Buffer.byteLength(value) <= 255) expect(first.value).toBe(value);
        const again = readV1Value("TXT", first.value);
        const meaning = (each: string) => parseRdata("TXT", each, "example.org");
        expect(meaning(again.text)).toEqual(meaning(first.text));
      }),
    );
  });
});
