import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomData } from "../../../test/rig/core/random-data.ts";
import { validData } from "../../../test/rig/core/valid-data.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { genericOfBytes } from "./fields/hex.ts";
import { isValidData, parseRdata, readableRdata } from "./rdata.ts";
import { adviceOf, bytesTypes, parseType, type RecordType, typeCode, typeName } from "./table.ts";

const obsolete = [3, 4];
const codes = bytesTypes.map(typeCode).filter((code) => !obsolete.includes(code));
const typeOf = (code: number): RecordType => `TYPE${code}`;

const readable = (type: RecordType, text: string): string => {
  const rdata = parseRdata(type, text, "example.org");
  return rdata.ok ? readableRdata(type, rdata.value.text) : rdata.faults.map(({ message }) => message).join(", ");
};

describe.each(codes.map((code) => [typeName(typeOf(code)), code] as const))("%s", (name, code) => {
  const type = typeOf(code);

  test("random data is written readably, and read back to the same bytes", () => {
    const data = randomData[code];
    if (data === undefined) throw new Error(`there is no random data for ${name}`);
    fc.assert(
      fc.property(data, (bytes) => {
        expect(isValidData(type, bytes)).toBe(true);
        const text = genericOfBytes(bytes);
        const shown = readableRdata(type, text);
        expect(shown).toMatch(/^(?!\\#)[ -~]+$/);
        expect(parseRdata(type, shown, "elsewhere.test")).toMatchObject({ ok: true, value: { text } });
      }),
      runs(30),
    );
  });

  test("any bytes are written so that they are read back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = genericOfBytes(bytes);
        expect(parseRdata(type, readableRdata(type, text), "")).toMatchObject({ ok: true, value: { text } });
      }),
      runs(30),
    );
  });

  test("any text is read or refused", () => {
    const words = fc.array(
      fc.oneof(fc.constantFrom("1", "-", ".", "@", "AAAA", "\\", '"', "0x", "1:", "!", "N", "m"), fc.string()),
    );
    fc.assert(
      fc.property(words, (parts) => {
        const rdata = parseRdata(type, parts.join(" "), "example.org");
        if (rdata.ok) expect(parseRdata(type, readableRdata(type, rdata.value.text), "")).toEqual(rdata);
        else expect(rdata.faults.length).toBeGreaterThan(0);
      }),
      runs(30),
    );
  });

  test.each(validData[code] ?? [])("the data %s survives", (hex) => {
    const text = genericOfBytes(Buffer.from(hex, "hex"));
    expect(parseRdata(type, readableRdata(type, text), "")).toMatchObject({ ok: true, value: { text } });
  });

  test("its name and its example are understood", () => {
    expect(parseType(name.toLowerCase())).toBe(type);
    const [, example = ""] = /^(?:.*?) records take .*?, such as (.*)$/.exec(adviceOf(type)) ?? [];
    expect(readable(type, example)).not.toMatch(/^\\#|missing|not /);
  });
});

test.each<[string, string, string]>([
  ["SSHFP", "1 1 DD465C09CFA51FB45020CC83316FFF 21B9EC74AC", "1 1 dd465c09cfa51fb45020cc83316fff21b9ec74ac"],
  ["DNAME", "Other", "Other.example.org."],
  ["LOC", "42 21 54 N 71 06 18 W -24m 30m", "42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m"],
  ["LOC", "51 N 0 E 0", "51 0 0.000 N 0 0 0.000 E 0.00m 1.00m 10000.00m 10.00m"],
  ["NAPTR", '100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp', '100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.example.org.'],
  ["URI", '10 1 "ftp://ftp1.example.com/public"', '10 1 "ftp://ftp1.example.com/public"'],
  ["CERT", "1 0 5 AQID", "PKIX 0 5 AQID"],
  ["CERT", "pgp 0 RSASHA256 AQ ID", "PGP 0 8 AQID"],
  ["APL", "1:192.168.32.0/21 !1:192.168.38.0/28", "1:192.168.32.0/21 !1:192.168.38.0/28"],
  ["CSYNC", "66 3 a ns AAAA", "66 3 A NS AAAA"],
  ["CDS", "0 0 0 00", "0 0 0 00"],
  ["CDNSKEY", "0 3 0 AA==", "0 3 0 AA=="],
  ["OPENPGPKEY", "AQID", "AQID"],
  ["IPSECKEY", "10 3 2 gw AQID", "10 3 2 gw.example.org. AQID"],
  ["IPSECKEY", "10 0 0 .", "10 0 0 ."],
  ["EUI48", "00-00-5E-00-53-2A", "00-00-5e-00-53-2a"],
  ["NID", "10 14:4fff:ff20:EE64", "10 0014:4fff:ff20:ee64"],
  ["AMTRELAY", "10 0 2 2001:db8::15", "10 0 2 2001:db8::15"],
  [
    "RRSIG",
    "TYPE65280 13 2 300 1893456000 20290101000000 7 . AQID",
    "TYPE65280 13 2 300 20300101000000 20290101000000 7 . AQID",
  ],
])("%s %s", (name, text, expected) => {
  const type = parseType(name);
  expect(type && readable(type, text)).toBe(expected);
});

test.each<[string, string]>([
  ["SSHFP", "1 1 abcd"],
  ["SSHFP", "1 1"],
  ["SSHFP", "1 1 xyz"],
  ["SSHFP", '1 1 "abcd"'],
  ["DNAME", "192.0.2.1"],
  ["DNAME", "a b"],
  ["LOC", "91 N 0 E 0"],
  ["LOC", "51 60 N 0 E 0"],
  ["LOC", "51 N 0 E"],
  ["APL", "1:192.0.2.0/33"],
  ["APL", "3:192.0.2.0/24"],
  ["CERT", "PKIX 0 0 AQI"],
  ["RRSIG", "A 13 2 300 20300230000000 20290101000000 7 . AQID"],
  ["NSEC", "a. NOSUCH"],
  ["MD", "host"],
])("%s %s is refused, with an example", (name, text) => {
  const type = parseType(name);
  const rdata = type && parseRdata(type, text, "example.org");
  expect(rdata?.ok).toBe(false);
});
