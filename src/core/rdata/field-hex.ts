import { type Fault, fail, ok } from "../result.ts";
import { type FieldKind, quotedFault } from "./field.ts";
import { readBytes, writeBytes } from "./field-text.ts";
import type { Token } from "./tokens.ts";

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
 * Data of any type, in the format for unknown types (RFC 3597 section 5): `\#`, the number of bytes, and the bytes in hexadecimal.
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
  print: (bytes) => (bytes === "" ? "\\# 0" : `\\# ${bytes.length} ${printHex(bytes)}`),
  write: writeBytes,
  read: (wire) => readBytes(wire, wire.bytes.length - wire.at),
};

export const isGenericMark = (token: Token | undefined): boolean => token?.raw === "\\#" && !token.quoted;

function readHex(tokens: readonly Token[]): string | undefined {
  const digits = tokens.map((token) => token.raw).join("");
  if (digits.length % 2 === 1 || !/^[0-9a-f]*$/i.test(digits) || tokens.some((token) => token.quoted)) return undefined;
  return digits.replaceAll(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

/** Joined, not concatenated: V8 keeps a string that was built byte by byte in as many pieces, which take twenty times its size. */
const printHex = (bytes: string): string => Array.from(bytes, (byte) => pairs[byte.charCodeAt(0)]).join("");

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

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

const wrongLength = (given: number, said: string, where: string): Fault => ({
  code: "bad-generic",
  where,
  message: `${said} bytes are declared, but ${given} are given`,
});
