import fc from "fast-check";
import { typeBitmap } from "../../../src/core/rdata/fields/type-bitmap.ts";
import { typeNames } from "../../../src/core/rdata/fields/type-names.ts";

type Bytes = fc.Arbitrary<Uint8Array>;

const joined = (...parts: readonly Bytes[]): Bytes =>
  fc.tuple(...parts).map((all) => Uint8Array.from(all.flatMap((part) => [...part])));
const bytes = (least: number, most = least): Bytes => fc.uint8Array({ minLength: least, maxLength: most });
const of = (...values: readonly number[]): Bytes => fc.constantFrom(...values).map((value) => Uint8Array.of(value));
const [u8, u16, u32] = [bytes(1), bytes(2), bytes(4)];
const u16Of = (...values: readonly number[]): Bytes =>
  fc.constantFrom(...values).map((value) => Uint8Array.of(value >> 8, value & 0xff));

const label = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/),
  // One character per byte, among them those that have a meaning in zone files.
  fc.uint8Array({ minLength: 1, maxLength: 5 }).map((all) => String.fromCharCode(...all)),
);
const name: Bytes = fc
  .array(label, { maxLength: 5 })
  .map((labels) => Uint8Array.from([...labels.flatMap((each) => [each.length, ...Buffer.from(each, "latin1")]), 0]));
const text: Bytes = fc.uint8Array({ maxLength: 40 }).map((all) => Uint8Array.from([all.length, ...all]));
const texts: Bytes = fc
  .array(text, { minLength: 1, maxLength: 4 })
  .map((all) => Uint8Array.from(all.flatMap((each) => [...each])));
/** Other programs read newer names in a bitmap as 0. */
const oldCodes = [...typeNames.keys()].filter((code) => code < 66 && ![30, 34, 38, 40, 56, 57].includes(code));
const types: Bytes = fc.uniqueArray(fc.constantFrom(...oldCodes), { maxLength: 20 }).map(typeBitmap);
const someTypes = types.filter((map) => map.length > 0);
const position = (degrees: number): Bytes =>
  fc.integer({ min: -degrees * 3_600_000, max: degrees * 3_600_000 }).map((angle) => {
    const view = new DataView(new ArrayBuffer(4));
    view.setUint32(0, 2 ** 31 + angle);
    return new Uint8Array(view.buffer);
  });
const size: Bytes = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([mantissa, exponent]) => Uint8Array.of((mantissa << 4) | exponent));
const prefix: Bytes = fc
  .tuple(fc.boolean(), fc.constantFrom(1, 2), fc.integer({ min: 0, max: 32 }), fc.uint8Array({ maxLength: 4 }))
  .map(([not, family, length, given]) => {
    const address = given.slice(0, given.findLastIndex((byte) => byte !== 0) + 1);
    return Uint8Array.of(0, family, length, address.length | (not ? 0x80 : 0), ...address);
  });
const prefixes: Bytes = fc
  .array(prefix, { minLength: 1, maxLength: 5 })
  .map((all) => Uint8Array.from(all.flatMap((each) => [...each])));
const gateway = fc.oneof(
  joined(of(0), u8),
  joined(of(1), u8, bytes(4)),
  joined(of(2), u8, bytes(16)),
  joined(of(3), u8, name),
);
const relay = fc.oneof(
  joined(of(0, 0x80)),
  joined(of(1, 0x81), bytes(4)),
  joined(of(2, 0x82), bytes(16)),
  joined(of(3, 0x83), name),
);
const identity: Bytes = fc
  .tuple(bytes(1, 40), bytes(1, 80), u8, fc.array(name, { maxLength: 3 }))
  .map(([tag, key, algorithm, servers]) =>
    Uint8Array.from([tag.length, ...algorithm, 0, key.length, ...tag, ...key, ...servers.flatMap((each) => [...each])]),
  );
const key = joined(u16, of(3), of(8, 13, 15), bytes(4, 90));
const signature = joined(u16Of(1, 6, 44, 65_280), of(8, 13), u8, u32, u32, u32, u16, name, bytes(1, 90));
const digest = fc.oneof(
  joined(u16, of(8, 13), of(1), bytes(20)),
  joined(u16, of(8, 13), of(2), bytes(32)),
  joined(u16, of(8, 13), of(4), bytes(48)),
);
const preferred = joined(u16, name);

/** Random data that is valid for its type. */
export const randomData: Readonly<Record<number, Bytes>> = {
  7: name,
  8: name,
  9: name,
  14: joined(name, name),
  18: preferred,
  21: preferred,
  23: name,
  29: joined(of(0), size, size, size, position(90), position(180), u32),
  35: joined(
    u16,
    u16,
    fc.constantFrom("", "S", "U", "a").map((flag) => Uint8Array.of(flag.length, ...Buffer.from(flag))),
    text,
    of(0),
    name,
  ),
  36: preferred,
  37: joined(u16Of(1, 3, 8, 253, 254, 700), u16, of(0, 8, 13), bytes(1, 90)),
  39: name,
  42: prefixes,
  44: fc.oneof(joined(of(1, 4), of(1), bytes(20)), joined(of(3, 4), of(2), bytes(32)), joined(u8, of(9), bytes(2, 40))),
  45: joined(u8, gateway, bytes(1, 60)),
  46: signature,
  47: joined(name, types),
  48: key,
  49: bytes(3, 60),
  50: joined(
    of(1),
    of(0, 1),
    u16,
    fc.uint8Array({ maxLength: 8 }).map((all) => Uint8Array.of(all.length, ...all)),
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((all) => Uint8Array.of(all.length, ...all)),
    types,
  ),
  51: joined(
    of(1),
    of(0),
    u16,
    fc.uint8Array({ maxLength: 8 }).map((all) => Uint8Array.of(all.length, ...all)),
  ),
  53: joined(u8, u8, u8, bytes(1, 60)),
  55: identity,
  59: digest,
  60: key,
  61: bytes(1, 90),
  62: joined(u32, u16, someTypes),
  63: joined(u32, of(1), of(1), bytes(48)),
  66: joined(u16Of(59, 62), of(1, 7), u16, name),
  67: bytes(1, 60),
  68: bytes(1, 60),
  99: texts,
  104: joined(u16, bytes(8)),
  105: joined(u16, bytes(4)),
  106: joined(u16, bytes(8)),
  107: preferred,
  108: bytes(6),
  109: bytes(8),
  256: joined(u16, u16, bytes(1, 60)),
  258: texts,
  259: joined(u32, u32, u8, text, bytes(0, 60)),
  260: joined(u8, relay),
  261: texts,
  262: texts,
  263: texts,
  264: bytes(8),
  32768: digest,
  32769: digest,
};
