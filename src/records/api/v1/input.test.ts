import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PrimaryServerInput, ZoneInput } from "../../../contract/records-v1.ts";
import { parseRdata } from "../../../core/rdata/rdata.ts";
import { bulkFromWire, changedRecordFromWire, echoOf, readFields, recordFromWire, subjectOf } from "./input.ts";
import { readV1Text, shownV1Text } from "./text.ts";

const zoneFromWire = (body: unknown) => readFields(ZoneInput, body);
const primaryServerFromWire = (body: unknown) => readFields(PrimaryServerInput, body);

const good = { zone_id: "z", type: "A", name: "www", value: "192.0.2.1" };

describe("bodies of the v1 API", () => {
  it.each([
    ["a record", recordFromWire],
    ["a record with its id", changedRecordFromWire],
    ["a zone", zoneFromWire],
    ["a bulk", bulkFromWire],
    ["a primary server", primaryServerFromWire],
  ])("any JSON becomes %s or faults, each with a place", (_, read) => {
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

  it("mean the same with additional keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (more) => {
        expect(recordFromWire({ ...more, ttl: 7, ...good })).toEqual(recordFromWire({ ttl: 7, ...good }));
      }),
    );
  });

  it("mean the same with their keys in any case", () => {
    const record = { ...good, ttl: 7, id: "r" };
    const cased = fc.infiniteStream(fc.boolean()).map((upper) => {
      const each = (letter: string) => (upper.next().value ? letter.toUpperCase() : letter);
      return Object.fromEntries(Object.entries(record).map(([key, value]) => [key.replaceAll(/./g, each), value]));
    });
    fc.assert(
      fc.property(cased, (body) => {
        expect(changedRecordFromWire(body)).toEqual(changedRecordFromWire(record));
        expect(bulkFromWire({ Records: [body] })).toEqual(bulkFromWire({ records: [body] }));
        expect(echoOf(body, Object.keys(record))).toEqual(record);
        expect(subjectOf(body)).toEqual(subjectOf(record));
      }),
    );
    expect(zoneFromWire({ Name: "example.org", TTL: 60 })).toEqual(zoneFromWire({ name: "example.org", ttl: 60 }));
    const server = { address: "192.0.2.1", port: 53, zone_id: "z" };
    const { port, ...others } = server;
    expect(primaryServerFromWire({ ...others, Port: port })).toEqual(primaryServerFromWire(server));
  });

  it.each([
    ["a record", recordFromWire, { ...good, Value: "192.0.2.2" }, "value"],
    ["a record, of the same value", recordFromWire, { ...good, Value: good.value }, "value"],
    ["a record, of a TTL", recordFromWire, { ...good, ttl: 60, TTL: 60 }, "ttl"],
    ["a record, of a TTL that is not set", recordFromWire, { ...good, ttl: 60, TTL: null }, "ttl"],
    ["a zone", zoneFromWire, { name: "example.org", NAME: "example.net" }, "name"],
    ["a bulk", bulkFromWire, { records: [], Records: [good] }, "records"],
    ["a primary server", primaryServerFromWire, { address: "192.0.2.1", zone_id: "z", port: 53, Port: 54 }, "port"],
  ])("of %s are refused when two keys differ only in case", (_, read, body, where) => {
    expect(read(body)).toMatchObject({
      ok: false,
      faults: [{ code: "bad-key", where, message: expect.stringMatching(/differ only in case/) }],
    });
  });

  it("take a TTL as a number or a string", () => {
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
    .filter((value) => !/^\s*"|[\0\r\n]|[^ ]{255} /.test(value));
  const inQuotes = (value: string) => value.replaceAll(/["\\]/g, "\\$&");
  const meaning = (value: string) => parseRdata("TXT", readV1Text(value), "example.org");
  const bytesIn = (value: string): readonly Buffer[] => {
    const rdata = meaning(value);
    if (!rdata.ok) throw new Error(JSON.stringify(rdata.faults));
    return Object.values(rdata.value.fields)
      .flat()
      .map((each) => Buffer.from(String(each), "latin1"));
  };
  const stringsOf = (value: string): readonly string[] => bytesIn(value).map((bytes) => bytes.toString("utf8"));

  const shown = (value: string): string => {
    const rdata = meaning(value);
    return rdata.ok ? shownV1Text({ value, rdata: rdata.value.text }) : value;
  };

  it("without backslashes mean exactly the bytes that were sent, in strings of up to 255", () => {
    fc.assert(
      fc.property(
        text.filter((value) => !value.includes("\\")),
        (value) => {
          expect(Buffer.concat(bytesIn(value)).toString("utf8")).toBe(value);
        },
      ),
    );
  });

  it("with escapes mean the same as in quotes", () => {
    fc.assert(
      fc.property(text.map(inQuotes), (value) => {
        fc.pre(Buffer.byteLength(value) <= 255);
        expect(meaning(value)).toEqual(meaning(`"${value}"`));
      }),
    );
  });

  it("are returned as sent up to 255 bytes unless they contain a lone quote; what is returned means the same", () => {
    fc.assert(
      fc.property(fc.oneof(text, text.map(inQuotes)), (value) => {
        const lone = /"/.test(value.replaceAll(/\\./gs, ""));
        const other = /\\[^"\\]/.test(value.replaceAll(/\\["\\]/g, ""));
        if (Buffer.byteLength(value) <= 255 && !lone && !other) expect(shown(value)).toBe(value);
        expect(meaning(shown(value))).toEqual(meaning(value));
      }),
    );
  });

  it.each([
    ["an escaped semicolon", "v=DKIM1\\; k=rsa", '"v=DKIM1; k=rsa"'],
    ["an escaped semicolon in quotes", '"v=DKIM1\\; k=rsa"', '"v=DKIM1; k=rsa"'],
    ["any other escaped character", "a\\.b\\ c", '"a.b c"'],
    ["an escaped digit of ASCII", "a\\059b", '"a;b"'],
    ["UTF-8 as escapes", "gr\\195\\188n", '"grün"'],
    ["an escaped backslash before digits", '"a\\\\195\\188\\;"', '"a\\\\195\\188;"'],
    ["bytes that are not UTF-8", "a\\255", '"a\\255"'],
    ["a blank after the last string", '"a" "b" ', '"a" "b"'],
    ["a blank before the first string", ' "a"', '"a"'],
    ["a tab or several blanks between strings", '"a"\t"b"  "c"', '"a" "b" "c"'],
    ["nothing between strings", '"a""b"', '"a" "b"'],
    ["strings with and without quotes", '"a b" c', '"a b" "c"'],
    ["long text", "x".repeat(300), `"${"x".repeat(255)}" "${"x".repeat(45)}"`],
    ["long text beyond ASCII", "ü".repeat(130), `"${"ü".repeat(127)}" "${"ü".repeat(3)}"`],
  ])("community.dns and octoDNS can read %s", (_, value, expected) => {
    expect(shown(value)).toBe(expected);
    expect(shown(expected)).toBe(expected);
  });

  const [x, blanks] = ["x".repeat(255), `${"ab ".repeat(84)}abc`];
  it.each([
    ["a word of 255 bytes, then a blank: two strings", `${x} yy`, [x, "yy"]],
    [
      "255 bytes in escapes and characters of several bytes",
      `${'\\"'.repeat(127)}a grün`,
      [`${'"'.repeat(127)}a`, "grün"],
    ],
    ["the next string quoted, as it has a blank", `${x} "y y" z`, [x, "y y", "z"]],
    ["three strings", `${x} ${x} yy`, [x, x, "yy"]],
    ["nothing after the blank", `${x} `, [x]],
    ["256 bytes before the blank: the blank is text", `${x}x yy`, [x, "x yy"]],
    ["254 bytes before the blank: the blank is text", `${x.slice(1)} yy`, [`${x.slice(1)} `, "yy"]],
    ["255 bytes with blanks in them: the blank is text", `${blanks} yy`, [blanks, " yy"]],
  ])("%s", (_, value, strings) => {
    expect(stringsOf(value)).toEqual(strings);
    expect(stringsOf(shown(value))).toEqual(strings);
  });

  it.each(["a\\", "a \\300", "a\\1", "\\"])("a bad escape is refused as it is in quotes: %j", (value) => {
    expect([meaning(value).ok, meaning(`"${value}"`).ok]).toEqual([false, false]);
  });
});
