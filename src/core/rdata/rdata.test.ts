import { describe, expect, test } from "vitest";
import { parseRdata, rdataFromWire, rdataToWire } from "./rdata.ts";
import { adviceOf, type RecordType, recordTypes } from "./table.ts";

const zone = "example.org";
const long = "x".repeat(255);
const sha1 = "2bb183af5f22588179a53b0a98631fad1a292118";

const read = (type: RecordType, text: string): string => {
  const rdata = parseRdata(type, text, zone);
  return rdata.ok ? rdata.value.text : rdata.faults.map((fault) => `${fault.code} at ${fault.where}`).join(", ");
};

describe("values, and their canonical text or faults", () => {
  test.each<[RecordType, string, string]>([
    ["A", "192.0.2.1", "192.0.2.1"],
    ["A", " 192.0.2.1\t", "192.0.2.1"],
    ["A", "", "missing-field at value"],
    ["A", "1.2.3.4.5", "bad-ipv4 at value"],
    ["A", "010.0.0.1", "bad-ipv4 at value"],
    ["A", "2001:db8::1", "bad-ipv4 at value"],
    ["A", '"192.0.2.1"', "bad-quotes at value"],
    ["A", "192.0.2.1 192.0.2.2", "extra-field at value"],
    ["A", "x y z", "bad-ipv4 at value, extra-field at value"],
    ["A", "192.0.2.1\n", "bad-character at value"],
    ["A", "192.0.2.1\0", "bad-character at value"],
    ["AAAA", "2001:DB8:0:0::1", "2001:db8::1"],
    ["MX", "10 192.0.2.1", "address-for-name at value.exchange"],
    ["NS", "192.0.2.1", "address-for-name at value"],
    ["NS", "2001:db8::1", "address-for-name at value"],
    ["CNAME", "192.0.2.1", "address-for-name at value"],
    ["PTR", "192.0.2.1", "address-for-name at value"],
    ["SRV", "0 0 443 192.0.2.1", "address-for-name at value.target"],
    ["HTTPS", "1 192.0.2.1", "address-for-name at value.target"],
    ["CNAME", "192.0.2.1.example.org.", "192.0.2.1.example.org."],
    ["CNAME", "192.0.2", "192.0.2.example.org."],
    ["AAAA", "::ffff:c000:201", "::ffff:192.0.2.1"],
    ["AAAA", "192.0.2.1", "bad-ipv6 at value"],
    ["AAAA", "fe80::1%eth0", "bad-ipv6 at value"],
    ["CNAME", "Host.Example.NET.", "host.example.net."],
    ["CNAME", "host", "host.example.org."],
    ["CNAME", "@", "example.org."],
    ["CNAME", "a..b.", "bad-name at value"],
    ["CNAME", "a b", "extra-field at value"],
    ["CNAME", '"a"', "bad-quotes at value"],
    ["NS", "ns1", "ns1.example.org."],
    ["PTR", "host.example.net.", "host.example.net."],
    ["MX", "10 mail", "10 mail.example.org."],
    ["MX", "010 mail.", "10 mail."],
    ["MX", "0 .", "0 ."],
    ["MX", "65535 mail.", "65535 mail."],
    ["MX", "65536 mail.", "bad-number at value.preference"],
    ["MX", "-1 mail.", "bad-number at value.preference"],
    ["MX", "1e1 mail.", "bad-number at value.preference"],
    ["MX", "10", "missing-field at value.exchange"],
    ["MX", "mail.example.org.", "bad-number at value.preference, missing-field at value.exchange"],
    ["MX", "x a..b 5", "bad-number at value.preference, bad-name at value.exchange, extra-field at value"],
    ["SRV", "10 20 5060 sip", "10 20 5060 sip.example.org."],
    ["SRV", "10 20 70000 sip", "bad-number at value.port"],
    ["SOA", "ns1 hostmaster 1 2 3 4 5", "ns1.example.org. hostmaster.example.org. 1 2 3 4 5"],
    ["SOA", "ns1. a\\.b. 4294967295 1d 2h 1w3h5m7s 1M", "ns1. a\\.b. 4294967295 86400 7200 615907 60"],
    [
      "SOA",
      "ns1. me@x. 4294967296 1y 1 1 1",
      "bad-name at value.contact, bad-number at value.serial, bad-number at value.refresh",
    ],
    ["SOA", "ns1. me. 1 8000w 1 1 1", "bad-number at value.refresh"],
    ["SOA", "ns1. me. 1h 1 1 1 1", "bad-number at value.serial"],
    ["TXT", "abc", '"abc"'],
    ["TXT", "a b", '"a" "b"'],
    ["TXT", '"a b"  c', '"a b" "c"'],
    ["TXT", '""', '""'],
    ["TXT", "", "missing-field at value"],
    ["TXT", '"v=DMARC1; p=none"', '"v=DMARC1; p=none"'],
    ["TXT", "v=spf1;x", '"v=spf1;x"'],
    ["TXT", 'say\\"hi\\"', '"say\\"hi\\""'],
    ["TXT", "c:\\\\x", '"c:\\\\x"'],
    ["TXT", "\\097\\010", '"a\\010"'],
    ["TXT", '"ü"', '"\\195\\188"'],
    ["TXT", '"tab\there"', '"tab\\009here"'],
    ["TXT", long, `"${long}"`],
    ["TXT", `"${long}x"`, "string-too-long at value"],
    ["TXT", "ü".repeat(128), "string-too-long at value"],
    ["TXT", `"${long}" "${long}"`, `"${long}" "${long}"`],
    ["TXT", `"${long}" `.repeat(255), `"${long}" `.repeat(255).trim()],
    ["TXT", `"${long}" `.repeat(256), "rdata-too-long at value"],
    ["TXT", '"open', "bad-quotes at value"],
    ["TXT", "bad\\", "bad-character at value"],
    ["TXT", "a\nb", "bad-character at value"],
    ["TXT", "\ud800", "bad-character at value"],
    ["CAA", '0 issue "ca.example"', '0 issue "ca.example"'],
    ["CAA", "128 ISSUE ca.example", '128 issue "ca.example"'],
    ["CAA", '0 iodef "mailto:a b@example.org"', '0 iodef "mailto:a b@example.org"'],
    ["CAA", '0 issue ";"', '0 issue ";"'],
    ["CAA", `0 issue "${long}${long}"`, `0 issue "${long}${long}"`],
    ["CAA", '256 is-sue "x"', "bad-number at value.flags, bad-tag at value.tag"],
    ["CAA", '0 issue "x" "y"', "extra-field at value"],
    ["CAA", "0 issue", "missing-field at value.value"],
    ["TXT", 'v="a b"', "bad-quotes at value"],
    ["DS", "60485 5 1 2BB183AF5F22588179A53B0A 98631FAD1A292118", `60485 5 1 ${sha1}`],
    ["DS", `1 RsaSha256 1 ${sha1}`, `1 8 1 ${sha1}`],
    ["DS", "1 8 99 ab", "1 8 99 ab"],
    ["DS", "1 8 2 abcd", "bad-together at value"],
    ["DS", "1 8 99 abc", "bad-hex at value.digest"],
    ["DS", "65536 SHA 2 xy", "bad-number at value.keyTag, bad-number at value.algorithm, bad-hex at value.digest"],
    ["DS", "1 8 99", "missing-field at value.digest"],
    ["HINFO", "ARM64 'x'", '"ARM64" "\'x\'"'],
    ["HINFO", '"" ""', '"" ""'],
    ["HINFO", "ARM64", "missing-field at value.os"],
    ["HINFO", "a b c", "extra-field at value"],
    ["HINFO", `a ${long}x`, "string-too-long at value.os"],
    ["RP", "admin people", "admin.example.org. people.example.org."],
    ["RP", "admin.example.net. .", "admin.example.net. ."],
    ["RP", "me@example.org .", "bad-name at value.mailbox"],
    ["TLSA", "3 1 1 AB cd", "3 1 1 abcd"],
    ["TLSA", "3 1 1 abc", "bad-hex at value.data"],
    ["TLSA", '3 1 256 "ab"', "bad-number at value.matchingType, bad-quotes at value.data"],
  ])("%s %j", (type, text, expected) => {
    expect(read(type, text)).toBe(expected);
  });
});

describe("unknown types and generic data (RFC 3597)", () => {
  test.each<[RecordType, string, string]>([
    ["TYPE65280", "\\# 0", "\\# 0"],
    ["TYPE65280", "\\# 3 ABCD ef", "\\# 3 abcdef"],
    ["TYPE65280", "\\# 3 abcd", "bad-generic at value"],
    ["TYPE65280", "\\# 1 zz", "bad-hex at value"],
    ["TYPE65280", "\\# x ab", "bad-generic at value"],
    ["TYPE65280", "\\#", "bad-generic at value"],
    ["TYPE65280", '"\\#" 0', "bad-generic at value"],
    ["TYPE65280", "192.0.2.1", "bad-generic at value"],
    ["TYPE65280", "", "missing-field at value"],
    ["TYPE65280", `\\# 65535 ${"ab".repeat(65_535)}`, `\\# 65535 ${"ab".repeat(65_535)}`],
    ["TYPE65280", `\\# 65536 ${"ab".repeat(65_536)}`, "rdata-too-long at value"],
    ["A", "\\# 4 C0000201", "192.0.2.1"],
    ["A", "\\# 5 C000020100", "bad-wire at value"],
    ["A", "\\# 3 C0000201", "bad-generic at value"],
    ["MX", "\\# 5 000a 0141 00", "10 a."],
    ["TXT", "\\# 2 0161", '"a"'],
    ["TXT", '"\\#" 2 0161', '"#" "2" "0161"'],
  ])("%s %j", (type, text, expected) => {
    expect(read(type, text)).toBe(expected);
  });
});

test("the fields are available for a form", () => {
  expect(parseRdata("MX", "10 mail", zone)).toMatchObject({
    value: { fields: { preference: 10, exchange: "mail.example.org." } },
  });
  expect(parseRdata("TXT", "a ü", zone)).toMatchObject({ value: { fields: { strings: ["a", "\xc3\xbc"] } } });
});

describe("faults", () => {
  test("a field has one fault, however many parts it has", () => {
    expect(read("TXT", "\\9 ".repeat(300_000))).toBe("bad-character at value");
  });

  test("the message for an address of the wrong family names the right type", () => {
    expect(parseRdata("A", "2001:db8::1", zone, "records[0].value")).toEqual({
      ok: false,
      faults: [
        {
          code: "bad-ipv4",
          where: "records[0].value",
          message: "this is not an IPv4 address",
          todo: "an A record takes an IPv4 address such as 192.0.2.1; use AAAA for IPv6",
        },
      ],
    });
  });

  test.each(recordTypes)("every fault of %s says what to do", (type) => {
    for (const text of ["", '"', "\0", "a b c d e f g h i j", "\\"]) {
      const rdata = parseRdata(type, text, zone);
      for (const fault of rdata.ok ? [] : rdata.faults) expect(fault.todo).toMatch(/\w/);
    }
  });

  test.each(recordTypes)("the example for %s is valid", (type) => {
    const example =
      / such as (.*?)(?:;| with a trailing dot|$)/.exec(adviceOf(type).replace(/^.*with a dot for @/, ""))?.[1] ?? "";
    expect(parseRdata(type, example, zone)).toMatchObject({ ok: true });
  });
});

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));

describe("wire form", () => {
  test.each<[RecordType, string, string]>([
    ["A", "192.0.2.1", "c0000201"],
    ["AAAA", "2001:db8::1", "20010db8000000000000000000000001"],
    ["CNAME", "a.b.", "01610162 00"],
    ["MX", "10 a.", "000a 016100"],
    ["SRV", "1 2 65535 .", "0001 0002 ffff 00"],
    ["SOA", "a. b. 4294967295 1 2 3 4", "016100 016200 ffffffff 00000001 00000002 00000003 00000004"],
    ["TXT", '"ab" ""', "026162 00"],
    ["CAA", '128 issue "x"', "80 05 6973737565 78"],
    ["DS", "1 8 99 abcd", "0001 08 63 abcd"],
    ["HINFO", '"a" ""', "0161 00"],
    ["RP", "a. .", "016100 00"],
    ["TLSA", "3 1 1 ab", "03 01 01 ab"],
    ["TYPE65280", "\\# 2 abcd", "abcd"],
    ["TYPE65280", "\\# 0", ""],
  ])("%s %s", (type, text, hex) => {
    const bytes = bytesOf(hex);
    const rdata = parseRdata(type, text, zone);
    if (!rdata.ok) throw new Error("not read");
    expect(rdataToWire(rdata.value)).toEqual(bytes);
    expect(rdataFromWire(type, bytes)).toEqual(rdata);
  });

  test.each<[RecordType, string]>([
    ["A", "c00002"],
    ["A", "c000020100"],
    ["AAAA", "c0000201"],
    ["MX", "000a"],
    ["MX", "0a"],
    ["MX", "000a c000"],
    ["TXT", ""],
    ["TXT", "0361"],
    ["CAA", "00 05 69"],
    ["CAA", "00 00"],
    ["CAA", "00 01 2d 78"],
    ["CAA", "00"],
    ["DS", "0001 08 63"],
    ["DS", "0001 08 02 abcd"],
    ["HINFO", "0161"],
    ["HINFO", "0161 0262"],
    ["TLSA", "03 01 01"],
  ])("%s %j is refused", (type, hex) => {
    expect(rdataFromWire(type, bytesOf(hex))).toMatchObject({
      ok: false,
      faults: [{ code: "bad-wire" }],
    });
  });
});
