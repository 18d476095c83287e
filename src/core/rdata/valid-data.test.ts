import { describe, expect, test } from "vitest";
import { validData } from "../../../test/rig/core/valid-data.ts";
import { isValidData } from "./rdata.ts";
import { bytesTypes, type RecordType, typeCode, typeFromCode } from "./table.ts";

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const obsolete = new Set([3, 4]);

const typeOf = (code: number): RecordType => `TYPE${code}`;

test.each(bytesTypes.map(typeCode))("type %d is kept as bytes, and has examples", (code) => {
  expect(typeFromCode(code)).toBe(typeOf(code));
  expect(validData[code] === undefined).toBe(obsolete.has(code));
});

describe.each(Object.entries(validData))("type %s", (code, examples) => {
  test.each(examples)("%s is valid", (hex) => {
    expect(isValidData(typeOf(Number(code)), bytesOf(hex))).toBe(true);
  });
});

test("a type without a registered layout may have any data", () => {
  expect([isValidData("TYPE65280", new Uint8Array()), isValidData("TYPE10", bytesOf("00ff"))]).toEqual([true, true]);
});

test.each<[string, number, string]>([
  ["an empty SSHFP record", 44, ""],
  ["an SSHFP record without a fingerprint", 44, "0101"],
  ["an SSHFP record with a short SHA-256 fingerprint", 44, "01020000"],
  ["an obsolete MD record", 3, "016100"],
  ["an empty SPF record", 99, ""],
  ["an SPF record that ends early", 99, "0561"],
  ["an empty OPENPGPKEY record", 61, ""],
  ["a short LOC record", 29, "0012"],
  ["a LOC record of another version", 29, `01${validData[29]?.[0]?.slice(2)}`],
  ["a LOC record beyond the pole", 29, "00121613ffffffff8000000000989680"],
  ["a short CERT record", 37, "0001000000"],
  ["a DNAME record without a name", 39, ""],
  ["a DNAME record with a compressed name", 39, "c00c"],
  ["a DNAME record with bytes after its name", 39, "016100ff"],
  ["a DNAME record with a name that ends early", 39, "0361"],
  ["a NAPTR record without a replacement", 35, "00010001000000"],
  ["a CDS record with a short SHA-256 digest", 59, "00010d0200"],
  ["a DNSKEY record without a key", 48, "0101030d"],
  ["a CSYNC record with blocks in the wrong order", 62, "00000001000301014000014000"],
  ["a CSYNC record with a zero at the end of its bitmap", 62, "000000010003000240 00".replace(" ", "")],
  ["an APL record with a prefix that is too long", 42, "00012101c0"],
  ["an APL record with a zero at the end", 42, "00010802c000"],
  ["an EUI48 record of seven bytes", 108, "00005e00530000"],
  ["a HIP record that ends early", 55, "1002000411"],
  ["an IPSECKEY record with an unknown gateway", 45, "0a0402c0"],
  ["an AMTRELAY record with a short address", 260, "0a01c000"],
  ["a URI record without a target", 256, "00010001"],
  ["a ZONEMD record with a short digest", 63, "000000010101ff"],
  ["an NSEC3PARAM record with a salt that ends early", 51, "0100000004ab"],
])("%s is refused", (_, code, hex) => {
  expect(isValidData(typeOf(code), bytesOf(hex))).toBe(false);
});
