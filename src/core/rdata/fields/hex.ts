import { type Fault, fail, ok } from "../../result.ts";
import type { FieldKind } from "./field.ts";
import { readBytes, writeBytes } from "./text.ts";
import { isGenericMark, quotedFault, type TextToken } from "./tokens.ts";

/** Bytes in hexadecimal up to the end, in any number of words; at least one byte. */
export const hexToEnd: FieldKind<string> = {
  takes: "rest",
  parse(tokens, { where }) {
    const bytes = readHex(tokens);
    if (bytes !== undefined && bytes !== "") return ok(bytes);
    return fail(quotedFault(tokens[0], where) ?? badHex(where));
  },
  print: (bytes) => printHex(bytes),
  write: writeBytes,
  read: (wire) => (wire.at < wire.bytes.length ? readBytes(wire, wire.bytes.length - wire.at) : undefined),
};

/**
 * Data of any type, in the format for unknown types (RFC 3597 section 5): `\#`, the number of bytes, and the bytes in
 * hexadecimal.
 */
export const genericData: FieldKind<string> = {
  takes: "rest",
  parse([mark, count, ...words], { where }) {
    if (!isGenericMark(mark)) return fail(notGeneric(where));
    const bytes = readHex(words);
    if (count === undefined || !/^\d{1,5}$/.test(count.raw) || count.quoted) return fail(notGeneric(where));
    if (bytes === undefined) return fail(badHex(where));
    return bytes.length === Number(count.raw) ? ok(bytes) : fail(wrongLength(bytes.length, count.raw, where));
  },
  print: (bytes) => (bytes === "" ? noBytes : `\\# ${bytes.length} ${printHex(bytes)}`),
  write: writeBytes,
  read: (wire) => readBytes(wire, wire.bytes.length - wire.at),
};

function readHex(tokens: readonly TextToken[]): string | undefined {
  if (tokens.some((token) => token.quoted)) return undefined;
  const bytes = bytesOfHex(tokens.length === 1 ? (tokens[0]?.raw ?? "") : tokens.map((token) => token.raw).join(""), 0);
  return bytes && textOfBytes(bytes);
}

const printHex = (bytes: string): string => hexOf(bytes.length, (i) => bytes.charCodeAt(i));

/**
 * Signed zones consist mostly of data in the generic form, so their canonical texts are read and written without the
 * parser. Undefined for any other text.
 */
export function bytesOfGeneric(text: string, room?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  if (!text.startsWith(start)) return undefined;
  if (text === noBytes) return new Uint8Array(0);
  const at = genericDigits(text);
  const bytes = at === 0 ? undefined : bytesOfHex(text, at, room);
  return bytes && `${bytes.length}` === text.slice(start.length, at - 1) ? bytes : undefined;
}

/** Where the digits begin in a canonical text. */
export const genericDigits = (text: string): number => text.indexOf(" ", start.length) + 1;

/** Like `bytesOfGeneric`, but returns a text with one character per byte. */
export function dataOfGeneric(text: string): string | undefined {
  const bytes = bytesOfGeneric(text, scratch);
  return bytes && textOfBytes(bytes);
}

export const genericOfBytes = (bytes: Uint8Array): string =>
  bytes.length === 0 ? noBytes : `${start}${bytes.length} ${hexOf(bytes.length, (i) => bytes[i] ?? 0)}`;

const start = "\\# ";
const noBytes = "\\# 0";

/** A large zone has hundreds of thousands of texts, and each new array would take memory outside of V8's heap. */
const scratch = new Uint8Array(512);

/**
 * The digits from `at` on; undefined if there are other characters among them. The result is written to `room` if it
 * fits.
 */
function bytesOfHex(text: string, at: number, room?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  const length = (text.length - at) / 2;
  if (!Number.isInteger(length)) return undefined;
  const bytes = room !== undefined && length <= room.length ? room.subarray(0, length) : new Uint8Array(length);
  let all = 0;
  for (let i = 0, from = at; i < length; i++, from += 2) {
    const byte = (digitAt(text, from) << 4) | digitAt(text, from + 1);
    all |= byte;
    bytes[i] = byte;
  }
  return all > 0xff ? undefined : bytes;
}

/** 256 for a character that is not a digit. */
function digitAt(text: string, at: number): number {
  return values[text.charCodeAt(at)] ?? 256;
}

const values = new Uint16Array(128).fill(256);
const digits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
for (const text of ["0123456789abcdef", "0123456789ABCDEF"])
  for (let value = 0; value < 16; value++) values[text.charCodeAt(value)] = value;

/**
 * Not concatenated: V8 keeps a string that was built piece by piece in as many pieces, which take twenty times its
 * size.
 */
function hexOf(length: number, byteAt: (i: number) => number): string {
  const codes = new Uint8Array(2 * length);
  for (let i = 0; i < length; i++) {
    const byte = byteAt(i);
    codes[2 * i] = digits[byte >> 4] ?? 0;
    codes[2 * i + 1] = digits[byte & 15] ?? 0;
  }
  return ascii.decode(codes);
}

const ascii = new TextDecoder();

/** One character per byte. */
function textOfBytes(bytes: Uint8Array): string {
  if (bytes.length <= mostArguments) return fromCodes(bytes);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += mostArguments)
    parts.push(fromCodes(bytes.subarray(at, at + mostArguments)));
  return parts.join("");
}

/** Spreading the bytes would take seven times as long. */
const fromCodes = (codes: Uint8Array): string => Reflect.apply(String.fromCharCode, undefined, codes);

const mostArguments = 4_096;

const badHex = (where: string): Fault => ({
  code: "bad-hex",
  where,
  message: "this is not hexadecimal: write two digits per byte",
});

const notGeneric = (where: string): Fault => ({
  code: "bad-generic",
  where,
  message: "data in generic form is \\#, the number of bytes, and the bytes in hexadecimal",
});

const wrongLength = (actual: number, declared: string, where: string): Fault => ({
  code: "bad-generic",
  where,
  message: `${declared} bytes are declared, but ${actual} are given`,
});
