import { describe, expect, test } from "vitest";
import { isLongRun } from "../../../../test/rig/long-run.ts";
import { parseRdata, rdataFromWire, rdataToWire } from "../rdata.ts";

const read = (text: string): string => {
  const rdata = parseRdata("SVCB", text, "example.org");
  return rdata.ok ? rdata.value.text : rdata.faults.map((fault) => `${fault.code}: ${fault.message}`).join("\n");
};

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));

/** RFC 9460 appendix D: what is written, its canonical text here, and its bytes. */
const vectors: readonly (readonly [string, string, string])[] = [
  ["0 foo.example.com.", "0 foo.example.com.", "0000 03666f6f076578616d706c6503636f6d00"],
  ["1 .", "1 .", "0001 00"],
  [
    "16 foo.example.com. port=53",
    "16 foo.example.com. port=53",
    "0010 03666f6f076578616d706c6503636f6d00 0003 0002 0035",
  ],
  [
    "1 foo.example.com. key667=hello",
    "1 foo.example.com. key667=hello",
    "0001 03666f6f076578616d706c6503636f6d00 029b 0005 68656c6c6f",
  ],
  [
    '1 foo.example.com. key667="hello\\210qoo"',
    '1 foo.example.com. key667="hello\\210qoo"',
    "0001 03666f6f076578616d706c6503636f6d00 029b 0009 68656c6c6fd2716f6f",
  ],
  [
    '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
    "1 foo.example.com. ipv6hint=2001:db8::1,2001:db8::53:1",
    "0001 03666f6f076578616d706c6503636f6d00 0006 0020 20010db8000000000000000000000001 20010db8000000000000000000530001",
  ],
  [
    "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
    "16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1",
    "0010 03666f6f076578616d706c65036f726700 0000 0004 0001 0004 0001 0009 026832 0568332d3139 0004 0004 c0000201",
  ],
  [
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
    "0010 03666f6f076578616d706c65036f726700 0001 000c 08665c6f6f2c626172 026832",
  ],
  [
    "16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2",
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
    "0010 03666f6f076578616d706c65036f726700 0001 000c 08665c6f6f2c626172 026832",
  ],
];

describe("the test vectors of RFC 9460", () => {
  test.each(vectors)("%s", (text, canonical, hex) => {
    expect(read(text)).toBe(canonical);
    const rdata = parseRdata("SVCB", text, "example.org");
    if (!rdata.ok) throw new Error("not read");
    expect(rdataToWire(rdata.value)).toEqual(bytesOf(hex));
    expect(rdataFromWire("SVCB", bytesOf(hex))).toEqual(rdata);
  });

  test.each([
    ["1 foo. key123=abc key123=def", "key123: it is given twice"],
    [
      "1 foo. mandatory",
      "mandatory: its value must be a list of other parameters' names, each once, such as alpn,port",
    ],
    ["1 foo. alpn", "alpn: its value must be a list of protocols of 1 to 255 bytes, such as h2,h3"],
    ["1 foo. port", "port: its value must be a port from 0 to 65535"],
    ["1 foo. ipv4hint", "ipv4hint: its value must be a list of IPv4 addresses, such as 192.0.2.1,192.0.2.2"],
    ["1 foo. no-default-alpn=abc", "no-default-alpn: its value must be left out"],
    ["1 foo. mandatory=key123", "key123: it is listed as mandatory but missing"],
    ["1 foo. mandatory=mandatory", "mandatory: its value must be a list of other parameters' names"],
    ["1 foo. mandatory=key123,key123 key123=abc", "mandatory: its value must be a list of other parameters' names"],
  ])("%s fails", (text, message) => {
    expect(read(text)).toContain(`bad-parameter: ${message}`);
  });
});

describe("parameters", () => {
  test.each([
    ['1 . port="53"', "1 . port=53"],
    ["1 . key3=\\000\\053", "1 . port=53"],
    ["1 . key1=\\002h2 no-default-alpn", "1 . alpn=h2 no-default-alpn"],
    ["1 . key667=", "1 . key667"],
    ['1 . key667=""', "1 . key667"],
    ['1 . key667="a b;c"', '1 . key667="a b;c"'],
    ["1 . ech=AEj+DQ== ohttp dohpath=/q{?dns}", '1 . ech=AEj+DQ== key7="/q{?dns}" key8'],
    ["1 . ipv6hint=::ffff:192.0.2.1,::", "1 . ipv6hint=::ffff:192.0.2.1,::"],
    ["0 . alpn=h2", "0 . alpn=h2"],
    ["1 . alpn=x\\\\,", '1 . alpn="x\\\\,"'],
  ])("%s", (text, canonical) => {
    expect(read(text)).toBe(canonical);
  });

  test.each([
    ["1 . alpn=h2,", "bad-parameter: alpn"],
    ["1 . alpn=,h2", "bad-parameter: alpn"],
    ["1 . alpn=h2,,h3", "bad-parameter: alpn"],
    ["1 . alpn=a\\\\b", "bad-parameter: alpn"],
    [`1 . alpn=${"x".repeat(256)}`, "bad-parameter: alpn"],
    ["1 . port=65536", "bad-parameter: port"],
    ["1 . key3=\\000", "bad-parameter: key3"],
    ["1 . ech=", "bad-parameter: ech"],
    ["1 . ech=AAA", "bad-parameter: ech"],
    ["1 . ipv4hint=192.0.2.1,::1", "bad-parameter: ipv4hint"],
    ["1 . ipv6hint=192.0.2.1", "bad-parameter: ipv6hint"],
    ["1 . no-default-alpn", "bad-parameter: no-default-alpn: it requires the parameter alpn"],
    ["1 . key65535=x", "bad-parameter: key65535"],
    ["1 . key08=x", "bad-parameter: key08"],
    ["1 . ALPN=h2", "bad-parameter: ALPN"],
    ['1 . "alpn=h2"', "bad-quotes"],
    ['1 . alpn="h2', "bad-quotes"],
    ['1 . alpn="h2"x', "bad-quotes"],
    ["1 . alpn= h2", "bad-parameter: alpn"],
    [`1 . key1000=${"x".repeat(65_536)}`, "bad-parameter: key1000"],
    [`1 . ipv6hint=${"::,".repeat(4095)}::`, "bad-parameter: ipv6hint"],
    [`1 . ipv6hint=${"::,".repeat(4094)}:: key1000=0123456789`, "rdata-too-long"],
    ["1", "missing-field"],
  ])("%s is refused", (text, fault) => {
    expect(read(text)).toContain(fault);
  });

  test("all faults are reported together", () => {
    expect(read("x . port=a foo=b key9=c key9=d").split("\n")).toHaveLength(4);
  });

  test.each(["x ", "key9 ", "port=x ", "key9=1 x "])("at most 20 faults are reported for %j repeated", (part) => {
    expect(read(`1 . ${part.repeat(isLongRun ? 300_000 : 30_000)}`).split("\n")).toHaveLength(20);
  });

  test("each parameter is a separate value for a form", () => {
    expect(parseRdata("HTTPS", '1 @ port=53 alpn="h2"', "example.org")).toMatchObject({
      value: { fields: { priority: 1, target: "example.org.", params: ["alpn=h2", "port=53"] } },
    });
  });
});

describe("bytes that are refused", () => {
  test.each([
    ["keys out of order", "0001 00 0004 0004 c0000201 0003 0002 0035"],
    ["a key twice", "0001 00 0003 0002 0035 0003 0002 0035"],
    ["a truncated key", "0001 00 0003 00"],
    ["a truncated value", "0001 00 0003 0002 00"],
    ["a port of three bytes", "0001 00 0003 0003 000035"],
    ["a protocol without a name", "0001 00 0001 0001 00"],
    ["no protocol", "0001 00 0001 0000"],
    ["mandatory keys out of order", "0001 00 0000 0004 0003 0001 0001 0003 026832 0003 0002 0035"],
    ["a mandatory key that is missing", "0001 00 0000 0002 0003"],
    ["the invalid key", "0001 00 ffff 0000"],
  ])("%s", (_, hex) => {
    expect(rdataFromWire("SVCB", bytesOf(hex))).toMatchObject({ ok: false, faults: [{ code: "bad-wire" }] });
  });
});
