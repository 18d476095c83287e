import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../../test/rig/any-text.ts";
import { writtenAs } from "../../../test/rig/core/written-values.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { bytesOfGeneric, genericOfBytes } from "./fields/hex.ts";
import { parseRdata, type Rdata, rdataFromFields, rdataFromWire, rdataToWire } from "./rdata.ts";
import { type RecordType, recordTypes } from "./table.ts";

const zone = "example.org";

const parsed = (type: RecordType, text: string): Rdata => {
  const rdata = parseRdata(type, text, zone);
  if (!rdata.ok) throw new Error(`${type} ${text}: ${rdata.faults.map((fault) => fault.message).join("; ")}`);
  return rdata.value;
};

describe.each<RecordType>([...recordTypes, "TYPE65280"])("%s", (type) => {
  test("canonical text is parsed to itself, in any zone", () => {
    fc.assert(
      fc.property(writtenAs(type), (text) => {
        const rdata = parsed(type, text);
        expect(parsed(type, rdata.text)).toEqual(rdata);
        expect(parseRdata(type, rdata.text, "elsewhere.test")).toEqual({ ok: true, value: rdata });
        expect(rdata.text).toMatch(/^[ -~]+$/);
      }),
      runs(40),
    );
  });

  test("data survives a round trip through wire format", () => {
    fc.assert(
      fc.property(writtenAs(type), (text) => {
        const rdata = parsed(type, text);
        const bytes = rdataToWire(rdata);
        expect(rdataFromWire(type, bytes)).toEqual({ ok: true, value: rdata });
        expect(parsed(type, `\\# ${bytes.length} ${Buffer.from(bytes).toString("hex")}`)).toEqual(rdata);
        expect(rdataFromFields(type, rdata.fields)).toEqual(rdata);
      }),
      runs(40),
    );
  });

  test("equal texts mean equal bytes, and the other way round", () => {
    fc.assert(
      fc.property(writtenAs(type), writtenAs(type), (one, other) => {
        const [a, b] = [parsed(type, one), parsed(type, other)];
        expect(a.text === b.text).toBe(rdataToWire(a).join() === rdataToWire(b).join());
      }),
      runs(40),
    );
  });

  test("any bytes are refused, or survive a round trip", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const rdata = rdataFromWire(type, bytes);
        if (!rdata.ok) return;
        expect(rdataFromWire(type, rdataToWire(rdata.value))).toEqual(rdata);
        expect(parsed(type, rdata.value.text)).toEqual(rdata.value);
      }),
      runs(40),
    );
  });

  test("any text is parsed or refused, without throwing", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => {
        const rdata = parseRdata(type, text, zone);
        expect(rdata.ok || rdata.faults.length > 0).toBe(true);
      }),
      runs(40),
    );
  });
});

test("the generic form gives the same results with and without the parser", () => {
  const type = "TYPE65280";
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6_000 }), (data) => {
      const rdata = rdataFromWire(type, data);
      const text = genericOfBytes(data);
      expect(rdata).toMatchObject({ ok: true, value: { text } });
      expect(bytesOfGeneric(text)).toEqual(Uint8Array.from(data));
    }),
  );
  const hex = fc.string({ unit: fc.constantFrom("0", "1", "a", "F", "g", "é", " ", "\\", "#"), maxLength: 8 });
  fc.assert(
    fc.property(fc.tuple(fc.constantFrom("\\# ", "\\#", ""), hex, hex), ([start, count, digits]) => {
      const text = `${start}${count} ${digits}`;
      const read = bytesOfGeneric(text);
      if (read !== undefined) expect(read).toEqual(rdataToWire(parsed(type, text)));
    }),
  );
});
