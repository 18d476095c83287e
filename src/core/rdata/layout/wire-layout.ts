import { fail, ok, type Result } from "../../result.ts";
import type { FieldPlace } from "../fields/field.ts";
import { genericOfBytes } from "../fields/hex.ts";
import type { TextToken } from "../fields/tokens.ts";
import { anyTypeName } from "../types/type-names.ts";
import {
  addressPrefix,
  atmAddress,
  certificateType,
  eui48,
  eui64,
  hostIdentity,
  ipsecGateway,
  ipv4,
  locator,
  longAddress,
  nsap,
  ports,
  protocol,
  relay,
  scheme,
  u64,
} from "./address.ts";
import { location } from "./location.ts";
import {
  algorithm,
  base64,
  codesOf,
  hex,
  type LayoutPart,
  name,
  optional,
  repeated,
  restEnd,
  sizedEnd,
  string,
  text,
  u8,
  u16,
  u32,
} from "./part.ts";
import { bitmap, nextHash, oldBitmap, recordType, salt, time } from "./signing.ts";

type Field = readonly [name: string, part: LayoutPart];

/** Fields in the order of the data, which is that of the text too. */
type Layout = { readonly fields: readonly Field[]; readonly example: string };

const layout = (example: string, ...fields: readonly Field[]): Layout => ({ fields, example });

const key64 = "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==";
const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const key = (flags: number) =>
  layout(
    `${flags} 3 13 ${key64}`,
    ["flags", u16],
    ["protocol", u8],
    ["algorithm", algorithm],
    ["key", base64(restEnd(1))],
  );
const signature = layout(
  `A 13 2 3600 20301231000000 20301201000000 12345 example.org. ${key64}`,
  ["covered", recordType],
  ["algorithm", algorithm],
  ["labels", u8],
  ["ttl", u32],
  ["expiration", time],
  ["inception", time],
  ["keyTag", u16],
  ["signer", name],
  ["signature", base64(restEnd(1))],
);
/** The lengths of SHA-1, SHA-256, GOST and SHA-384. */
const digest = layout(
  `12345 13 2 ${sha256}`,
  ["keyTag", u16],
  ["algorithm", algorithm],
  ["digestType", u8],
  ["digest", hex(sizedEnd(3, { 1: 20, 2: 32, 3: 32, 4: 48 }, 1))],
);
const texts = (example: string) => layout(example, ["texts", repeated(string(), 1)]);
const oneName = layout("host.example.org.", ["name", name]);
const preferred = layout("10 host.example.org.", ["preference", u16], ["host", name]);

/** RFC 1035 section 3.3.4: MX records replace it. BIND refuses the zone. */
const obsolete = layout("", ["host", { ...name, end: () => undefined }]);

/** The types that are not in the table of record types, by their numbers. */
const layouts: ReadonlyMap<number, Layout> = new Map([
  [3, obsolete],
  [4, obsolete],
  [7, oneName],
  [8, oneName],
  [9, oneName],
  [11, layout("192.0.2.1 tcp 25 80", ["address", ipv4], ["protocol", protocol], ["ports", ports])],
  [14, layout("admin.example.org. errors.example.org.", ["mailbox", name], ["errors", name])],
  [18, preferred],
  [19, layout('"311061700956"', ["address", string(4)])],
  [20, layout('"150862028003217" "004"', ["address", string()], ["subaddress", optional(string())])],
  [21, preferred],
  [22, layout("0x47.0005.80.005a00.0000.0001.e133.ffffff000161.00", ["address", nsap])],
  [23, oneName],
  [24, signature],
  [25, key(256)],
  [26, layout("10 a.example.org. b.example.org.", ["preference", u16], ["map822", name], ["mapX400", name])],
  [
    27,
    layout('"-32.6882" "116.8652" "10.0"', ["longitude", string(1)], ["latitude", string(1)], ["altitude", string(1)]),
  ],
  [29, layout("52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m", ["location", location])],
  [30, layout("next.example.org. A MX", ["next", name], ["types", oldBitmap])],
  [31, layout("e32c6f78163a9348", ["data", hex(restEnd(1))])],
  [32, layout("32251a030067", ["data", hex(restEnd(1))])],
  [34, layout("+61200000000", ["address", atmAddress])],
  [
    35,
    layout(
      '100 10 "S" "SIP+D2U" "" _sip._udp.example.org.',
      ["order", u16],
      ["preference", u16],
      ["flags", string()],
      ["services", string()],
      ["pattern", string()],
      ["replacement", name],
    ),
  ],
  [36, preferred],
  [
    37,
    layout(
      `PKIX 0 0 ${key64}`,
      ["type", certificateType],
      ["keyTag", u16],
      ["algorithm", algorithm],
      ["certificate", base64(restEnd(1))],
    ),
  ],
  [38, layout("64 ::1 net.example.org.", ["address", longAddress])],
  [39, layout("other.example.org.", ["target", name])],
  [40, layout("1 0 0 AQID", ["meaning", u8], ["coding", u8], ["subcoding", u8], ["data", base64(restEnd(1))])],
  [42, layout("1:192.0.2.0/24 !2:2001:db8::/32", ["prefixes", repeated(addressPrefix, 0)])],
  [
    44,
    layout(
      `4 2 ${sha256}`,
      ["algorithm", u8],
      ["digestType", u8],
      ["fingerprint", hex(sizedEnd(1, { 1: 20, 2: 32 }, 2))],
    ),
  ],
  [45, layout(`10 1 2 192.0.2.1 ${key64}`, ["precedence", u8], ["gateway", ipsecGateway])],
  [46, signature],
  [47, layout("next.example.org. A RRSIG NSEC", ["next", name], ["types", bitmap])],
  [48, key(257)],
  [49, layout("AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=", ["data", base64(restEnd(1))])],
  [
    50,
    layout(
      "1 0 0 - 2vptu5timamqttgl4luu9kg21e0aor3s A RRSIG",
      ["hash", u8],
      ["flags", u8],
      ["iterations", u16],
      ["salt", salt],
      ["next", nextHash],
      ["types", bitmap],
    ),
  ],
  [51, layout("1 0 0 -", ["hash", u8], ["flags", u8], ["iterations", u16], ["salt", salt])],
  [53, layout(`3 1 1 ${sha256}`, ["usage", u8], ["selector", u8], ["matchingType", u8], ["data", hex(restEnd(1))])],
  [55, layout(`2 200100107b1a74df365639cc39f1d578 ${key64} rvs.example.org.`, ["identity", hostIdentity])],
  [56, texts('"text"')],
  [57, key(0)],
  [58, layout("before.example.org. after.example.org.", ["before", name], ["after", name])],
  [59, digest],
  [60, key(257)],
  [61, layout("mQENBFVHm5sBCAC/", ["key", base64(restEnd(1))])],
  [62, layout("66 3 A NS AAAA", ["serial", u32], ["flags", u16], ["types", bitmap])],
  [
    63,
    layout(
      `2026010101 1 1 ${sha256}ba7816bf8f01cfea414140de5dae2223`,
      ["serial", u32],
      ["scheme", u8],
      ["hash", u8],
      ["digest", hex(sizedEnd(5, { 1: 48, 2: 64 }, 12))],
    ),
  ],
  [
    66,
    layout(
      "CDS NOTIFY 5359 cds-scanner.example.org.",
      ["type", recordType],
      ["scheme", scheme],
      ["port", u16],
      ["target", name],
    ),
  ],
  [67, layout("gwppVFgGQ5hEQVJQQQ==", ["data", base64(restEnd(1))])],
  [68, layout("owAAAYIEUAAAAA==", ["data", base64(restEnd(1))])],
  [99, texts('"v=spf1 mx -all"')],
  [104, layout("10 0014:4fff:ff20:ee64", ["preference", u16], ["node", locator])],
  [105, layout("10 192.0.2.1", ["preference", u16], ["locator", ipv4])],
  [106, layout("10 2001:0db8:1140:1000", ["preference", u16], ["locator", locator])],
  [107, preferred],
  [108, layout("00-00-5e-00-53-2a", ["address", eui48])],
  [109, layout("00-00-5e-ef-10-00-00-2a", ["address", eui64])],
  [256, layout('10 1 "https://www.example.org/"', ["priority", u16], ["weight", u16], ["target", text(1)])],
  [258, texts('"app-name:WOLFGANG|app-class:OAM"')],
  [
    259,
    layout(
      '0 1 2 "text/plain" aGVsbG8=',
      ["enterprise", u32],
      ["type", u32],
      ["location", u8],
      ["mediaType", string()],
      ["data", base64(restEnd(0), "-")],
    ),
  ],
  [260, layout("10 0 1 192.0.2.1", ["precedence", u8], ["relay", relay])],
  [261, texts('"qnamemin" "exterr=15-17"')],
  [262, texts('"ETH" "0x0123456789"')],
  [263, texts('"TCP-v4-v6"')],
  [264, layout("4200000", ["number", u64])],
  [32_768, digest],
  [32_769, digest],
]);

/** The types that have a layout here. */
export const layoutCodes: readonly number[] = [...layouts.keys()];

/** What a value looks like, for the user; undefined if the type has no layout. */
export function layoutAdvice(code: number): string | undefined {
  const { fields, example } = layouts.get(code) ?? { fields: [], example: "" };
  if (example === "") return undefined;
  const names = fields.map(([field]) => field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
  const list = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
  return `${anyTypeName(code)} records take ${list}, such as ${example}`;
}

/**
 * Whether the data is valid for its type; types without a known layout may contain anything. Other servers refuse a
 * whole zone because of one such record.
 */
export function isValidData(code: number, data: Uint8Array): boolean {
  const fields = layouts.get(code)?.fields;
  return fields === undefined || endsOf(fields, data) !== undefined;
}

/** Where each field ends; undefined if the data is not valid. */
function endsOf(fields: readonly Field[], data: Uint8Array): readonly number[] | undefined {
  const ends: number[] = [];
  for (const [, part] of fields) {
    const end = part.end(data, ends.at(-1) ?? 0);
    if (end === undefined || end > data.length) return undefined;
    ends.push(end);
  }
  return ends.at(-1) === data.length ? ends : undefined;
}

/** The data that a text stands for, one character per byte. Undefined if the type has no layout. */
export function parseData(code: number, tokens: readonly TextToken[], place: FieldPlace): Result<string> | undefined {
  const fields = layouts.get(code)?.fields;
  if (fields === undefined) return undefined;
  let [bytes, next] = ["", 0];
  for (const [field, part] of fields) {
    const [first, ...others] = part.takes === "rest" ? tokens.slice(next) : tokens.slice(next, next + 1);
    next += first === undefined ? 0 : 1 + others.length;
    if (first === undefined && part.mayBeAbsent) continue;
    const where = place.where;
    if (first === undefined) return fail({ code: "missing-field", where, message: `the ${field} is missing` });
    const read = part.parse([first, ...others], place);
    if (!read.ok) return fail(...read.faults.map((fault) => ({ ...fault, message: `${field}: ${fault.message}` })));
    bytes += read.value;
  }
  if (next < tokens.length)
    return fail({ code: "extra-field", where: place.where, message: "there are too many fields" });
  return isValidData(code, codesOf(bytes)) ? ok(bytes) : fail(invalid(code, place.where));
}

/**
 * The data as people write it. Data that is not valid, or whose text would mean other bytes, is printed in the generic
 * form.
 */
export function printData(code: number, data: Uint8Array): string {
  const fields = layouts.get(code)?.fields;
  const ends = fields && endsOf(fields, data);
  if (fields === undefined || ends === undefined) return genericOfBytes(data);
  const printed = fields.map(([, part], i) => part.print(data.subarray(ends[i - 1] ?? 0, ends[i]), data));
  return printed.filter((each) => each !== "").join(" ");
}

const invalid = (code: number, where: string) => ({
  code: "bad-data",
  where,
  message: `the data is not valid for a record of type ${anyTypeName(code)}`,
});
