import { type Fault, fail, ok, type Result } from "../../result.ts";
import type { FieldKind, WireReader } from "./field.ts";
import { quote, quotedFault, type TextToken, tokenBytes } from "./tokens.ts";

const maximumString = 255;

/** A character-string (RFC 1035 section 3.3): a length byte and at most 255 bytes. */
export const characterString: FieldKind<string> = {
  takes: "one",
  wire: "string",
  parse: ([token], { where }) => parseString(token, where),
  print: quote,
  write(string, out) {
    out.push(string.length);
    writeBytes(string, out);
  },
  read(wire) {
    if (wire.at >= wire.bytes.length) return undefined;
    const length = wire.bytes[wire.at] ?? 0;
    wire.at += 1;
    return wire.at + length > wire.bytes.length ? undefined : readBytes(wire, length);
  },
};

/** One or more character-strings, up to the end. */
export const characterStrings: FieldKind<readonly string[]> = {
  takes: "rest",
  parse(tokens, { where }) {
    const strings: string[] = [];
    for (const token of tokens) {
      const bytes = parseString(token, where);
      if (!bytes.ok) return bytes;
      strings.push(bytes.value);
    }
    return ok(strings);
  },
  print: (strings) => strings.map(quote).join(" "),
  write(strings, out) {
    for (const string of strings) characterString.write(string, out);
  },
  read(wire) {
    const strings: string[] = [];
    while (wire.at < wire.bytes.length) {
      const string = characterString.read(wire);
      if (string === undefined) return undefined;
      strings.push(string);
    }
    return strings.length > 0 ? strings : undefined;
  },
};

/** The name of a CAA property (RFC 8659 section 4.1): letters and digits, any case. */
export const tag: FieldKind<string> = {
  takes: "one",
  parse([token], { where }) {
    const quoted = quotedFault(token, where);
    if (quoted !== undefined) return fail(quoted);
    return tagText.test(token.raw) ? ok(token.raw.toLowerCase()) : fail({ code: "bad-tag", where, message: tagRule });
  },
  print: (value) => value,
  write: (value, out) => characterString.write(value, out),
  read(wire) {
    const value = characterString.read(wire) ?? "";
    return tagText.test(value) ? value.toLowerCase() : undefined;
  },
};

/** Text without a length byte, up to the end of the data. */
export const textToEnd: FieldKind<string> = {
  takes: "one",
  parse: ([token]: readonly [TextToken, ...TextToken[]], { where }) => tokenBytes(token, where),
  print: quote,
  write: writeBytes,
  read: (wire) => readBytes(wire, wire.bytes.length - wire.at),
};

const tagText = /^[a-z0-9]{1,255}$/i;
const tagRule = "a tag is a word of letters and digits, such as issue, issuewild or iodef";

export function writeBytes(bytes: string, out: number[]): void {
  for (let i = 0; i < bytes.length; i++) out.push(bytes.charCodeAt(i));
}

export function readBytes(wire: WireReader, length: number): string {
  let bytes = "";
  for (const byte of wire.bytes.subarray(wire.at, wire.at + length)) bytes += String.fromCharCode(byte);
  wire.at += length;
  return bytes;
}

function parseString(token: TextToken, where: string): Result<string> {
  const bytes = tokenBytes(token, where);
  return bytes.ok && bytes.value.length > maximumString ? fail(stringTooLong(bytes.value.length, where)) : bytes;
}

const stringTooLong = (length: number, where: string): Fault => ({
  code: "string-too-long",
  where,
  message: `a string has ${length} bytes; it may have at most ${maximumString}`,
  todo: 'split it into several strings: "..." "..."',
});
