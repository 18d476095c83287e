import fc from "fast-check";
import { isKnownType, type KnownType, type RecordType } from "../../../src/core/rdata/table.ts";

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

const hex = (minimum: number, maximum = minimum) =>
  fc
    .uint8Array({ minLength: minimum, maxLength: maximum })
    .chain((bytes) => fc.tuple(fc.constant(bytes), fc.constantFrom("", " "), fc.boolean()))
    .map(([bytes, blank, upper]) => {
      const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(blank);
      return upper ? digits.toUpperCase() : digits;
    });

const param = (key: string, value: fc.Arbitrary<string>) =>
  fc.tuple(value, fc.boolean()).map(([text, inQuotes]) => (inQuotes ? `${key}="${text}"` : `${key}=${text}`));
const listOf = (item: fc.Arbitrary<string>) =>
  fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(","));
const protocol = fc.constantFrom("h2", "h3", "http/1.1", "f\\\\\\\\oo", "\\\\,", "x\\\\,", "\\001", "ü");

/** Any parameters in any order; those that others depend on are always included. */
const params = fc
  .record(
    {
      alpn: param("alpn", listOf(protocol)),
      plain: fc.constantFrom("key667", "key667=x", "key667="),
      quote: fc.constant('key1000="\\""'),
      mandatory: fc.constantFrom("mandatory=alpn", "mandatory=key667,alpn", 'mandatory="alpn,key1000"'),
      none: fc.constantFrom("no-default-alpn", "no-default-alpn=", 'key2=""'),
      port: fc.oneof(param("port", u16.map(String)), fc.constant("key3=\\007\\255")),
      ipv4: param("ipv4hint", listOf(fc.ipV4())),
      ech: param("ech", fc.constantFrom("AA==", "/+8=", "q6ur")),
      ipv6: param("ipv6hint", listOf(fc.ipV6())),
      path: fc.constantFrom("dohpath=/q{?dns}", "ohttp"),
      last: fc.constantFrom("key65534", "key65534=\\000", 'key65534="a b;(c"'),
    },
    { requiredKeys: ["alpn", "plain", "quote"] },
  )
  .map((chosen) => Object.values(chosen))
  .chain((chosen) => fc.shuffledSubarray(chosen, { minLength: chosen.length }))
  .map((chosen) => chosen.join(" "));

const service = fc.oneof(fields(u16, name), fields(u16, name, params));

/** Values of a type as people write them: not yet canonical. */
export const writtenAs = (type: RecordType): fc.Arbitrary<string> => (isKnownType(type) ? written[type] : unknown);

const written: Readonly<Record<KnownType, fc.Arbitrary<string>>> = {
  A: fields(fc.ipV4()),
  AAAA: fields(fc.ipV6()),
  CAA: fields(u8, fc.stringMatching(/^[a-zA-Z0-9]{1,10}$/), string),
  CNAME: fields(name),
  DS: fc.oneof(
    fields(u16, u8, fc.constant(1), hex(20)),
    fields(u16, fc.constant("rsasha256"), fc.constant(9), hex(1, 9)),
  ),
  HINFO: fields(string, string),
  HTTPS: service,
  MX: fields(u16, name),
  NS: fields(name),
  PTR: fields(name),
  RP: fields(name, name),
  SOA: fields(name, name, u32, span, span, span, span),
  SRV: fields(u16, u16, u16, name),
  SVCB: service,
  TLSA: fields(u8, u8, u8, hex(1, 40)),
  TXT: fc.array(string, { minLength: 1, maxLength: 4 }).map((strings) => strings.join(" ")),
};

const unknown = hex(0, 40).map((digits) => `\\# ${digits.replaceAll(" ", "").length / 2} ${digits}`);
