import fc from "fast-check";
import { Address4, Address6 } from "ip-address";
import { describe, expect, test } from "vitest";
import { addressBytes, addressFromBytes, parseAddress, parseIpv4, parseIpv6, recordTypeOf } from "./address.ts";

describe("texts that are addresses", () => {
  test.each([
    ["192.0.2.1", "ipv4", "192.0.2.1"],
    ["0.0.0.0", "ipv4", "0.0.0.0"],
    ["255.255.255.255", "ipv4", "255.255.255.255"],
    ["2001:DB8::1", "ipv6", "2001:db8::1"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "ipv6", "2001:db8::1"],
    ["::", "ipv6", "::"],
    ["::1", "ipv6", "::1"],
    ["1::", "ipv6", "1::"],
    ["2001:db8:0:0:1:0:0:1", "ipv6", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "ipv6", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "ipv6", "2001:0:0:1::1"],
    ["1:2:3:4:5:6:7::", "ipv6", "1:2:3:4:5:6:7:0"],
    ["::ffff:192.0.2.1", "ipv6", "::ffff:192.0.2.1"],
    ["::FFFF:c000:201", "ipv6", "::ffff:192.0.2.1"],
    ["64:ff9b::192.0.2.33", "ipv6", "64:ff9b::c000:221"],
  ])("%s", (text, family, canonical) => {
    expect(parseAddress(text)).toEqual({ family, text: canonical });
  });
});

describe("texts that are not addresses", () => {
  test.each([
    "",
    " ",
    "192.0.2",
    "192.0.2.1.",
    "192.0.2.1.5",
    "192.0.2.256",
    "192.0.2.01",
    "010.0.0.1",
    "0x7f.0.0.1",
    "2130706433",
    "192.0.2.1/24",
    " 192.0.2.1",
    "192.0.2.1\n",
    "１92.0.2.1",
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "1::2::3",
    ":1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:",
    "12345::",
    "g::",
    "fe80::1%eth0",
    "[::1]",
    "2001:db8::/32",
    "::1\n",
    "192.0.2.1::",
    "::192.0.2.1:1",
    "::192.0.2.01",
    "1:2:3:4:5:6:7:192.0.2.1",
  ])("%j", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

test("each family's parser accepts only its own addresses", () => {
  expect(parseIpv4("2001:db8::1")).toBeUndefined();
  expect(parseIpv6("192.0.2.1")).toBeUndefined();
  expect([recordTypeOf("ipv4"), recordTypeOf("ipv6")]).toEqual(["A", "AAAA"]);
});

const sixteenBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const fourBytes = fc.uint8Array({ minLength: 4, maxLength: 4 });
/** Groups that are often zero, so that runs to be shortened are common. */
const sparse = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 })
  .map((groups) => Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff])));

describe("laws", () => {
  test("bytes survive a round trip", () => {
    fc.assert(
      fc.property(fc.oneof(sixteenBytes, sparse, fourBytes), (bytes) => {
        const address = addressFromBytes(bytes);
        expect(address && addressBytes(address)).toEqual(bytes);
        expect(address && parseAddress(address.text)).toEqual(address);
      }),
    );
  });

  test("only 4 or 16 bytes are an address", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        expect(addressFromBytes(bytes) !== undefined).toBe(bytes.length === 4 || bytes.length === 16);
      }),
    );
  });

  test("the package ip-address gives the same canonical text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), sparse.map(longText)), (text) => {
        const other = new Address6(text);
        const expected = other.isMapped4() ? `::ffff:${other.to4().correctForm()}` : other.correctForm();
        expect(parseIpv6(text)?.text).toBe(expected);
      }),
    );
  });

  test("the package ip-address accepts the same texts", () => {
    const piece = fc.constantFrom("::", ":", "0", "1", "ffff", "aB3", "00001", "192.0.2.1", "1.2", ".", "256");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 17 }), (pieces) => {
        const text = pieces.join("");
        expect(parseIpv6(text) !== undefined).toBe(text.length > 1 && Address6.isValid(text));
        expect(parseIpv4(text) !== undefined).toBe(Address4.isValid(text));
      }),
      { numRuns: 2000 },
    );
  });
});

const longText = (bytes: Uint8Array): string =>
  Array.from({ length: 8 }, (_, i) =>
    [bytes[2 * i], bytes[2 * i + 1]].map((byte) => (byte ?? 0).toString(16).padStart(2, "0")).join(""),
  ).join(":");
