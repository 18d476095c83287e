import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRdata, type Rdata, rdataFromFields, rdataFromWire, rdataToWire } from "./rdata.ts";
import { type RecordType, recordTypes } from "./table.ts";

const zone = "example.org";

const name = fc.oneof(
  fc.constantFrom("@", ".", "www", "WWW.Example.Org.", "*.sub", "a\\.b", "\\065.x.", "a\\ b."),
  fc.domain().map((domain) => `${domain}.`),
);
const u8 = fc.integer({ min: 0, max: 255 });
const u16 = fc.integer({ min: 0, max: 65_535 });
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const span = fc.oneof(u32.map(String), fc.constantFrom("1h", "1H30M", "2w", "0s"));
const bare = fc.stringMatching(/^[!#-[\]-~]{1,30}$/);
const quoted = fc
  .array(fc.oneof(fc.constantFrom('\\"', "\\\\", "\\007", "\\255", " ", "ü", "💡", "\t"), bare), { maxLength: 6 })
  .map((parts) => `"${parts.join("")}"`);
const string = fc.oneof(bare, quoted);
const fields = (...parts: readonly fc.Arbitrary<unknown>[]) =>
  fc
    .tuple(fc.constantFrom(" ", "\t", "  "), fc.constantFrom("", " "), ...parts)
    .map(([blank, end, ...given]) => given.join(blank) + end);

/** Values as people write them: not yet canonical. */
const written: Readonly<Record<RecordType, fc.Arbitrary<string>>> = {
  A: fields(fc.ipV4()),
  AAAA: fields(fc.ipV6()),
  CAA: fields(u8, fc.stringMatching(/^[a-zA-Z0-9]{1,10}$/), string),
  CNAME: fields(name),
  MX: fields(u16, name),
  NS: fields(name),
  PTR: fields(name),
  SOA: fields(name, name, u32, span, span, span, span),
  SRV: fields(u16, u16, u16, name),
  TXT: fc.array(string, { minLength: 1, maxLength: 4 }).map((strings) => strings.join(" ")),
};

const parsed = (type: RecordType, text: string): Rdata => {
  const rdata = parseRdata(type, text, zone);
  if (!rdata.ok) throw new Error(`${type} ${text}: ${rdata.faults.map((fault) => fault.message).join("; ")}`);
  return rdata.value;
};

describe.each(recordTypes)("%s", (type) => {
  test("canonical text is read as itself, in any zone", () => {
    fc.assert(
      fc.property(written[type], (text) => {
        const rdata = parsed(type, text);
        expect(parsed(type, rdata.text)).toEqual(rdata);
        expect(parseRdata(type, rdata.text, "elsewhere.test")).toEqual({ ok: true, value: rdata });
        expect(rdata.text).toMatch(/^[ -~]+$/);
      }),
    );
  });

  test("from the wire comes what was sent", () => {
    fc.assert(
      fc.property(written[type], (text) => {
        const rdata = parsed(type, text);
        expect(rdataFromWire(type, rdataToWire(rdata))).toEqual({ ok: true, value: rdata });
        expect(rdataFromFields(type, rdata.fields)).toEqual(rdata);
      }),
    );
  });

  test("equal texts mean equal bytes, and the other way round", () => {
    fc.assert(
      fc.property(written[type], written[type], (one, other) => {
        const [a, b] = [parsed(type, one), parsed(type, other)];
        expect(a.text === b.text).toBe(rdataToWire(a).join() === rdataToWire(b).join());
      }),
    );
  });

  test("any bytes are refused, or stay what they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const rdata = rdataFromWire(type, bytes);
        if (!rdata.ok) return;
        expect(rdataFromWire(type, rdataToWire(rdata.value))).toEqual(rdata);
        expect(parsed(type, rdata.value.text)).toEqual(rdata.value);
      }),
    );
  });

  test("any text is read or refused, never thrown at", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const rdata = parseRdata(type, text, zone);
        expect(rdata.ok || rdata.faults.length > 0).toBe(true);
      }),
    );
  });
});
