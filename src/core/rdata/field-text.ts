import { type Fault, fail, ok } from "../result.ts";
import { quote, type Token, tokenBytes } from "../tokens.ts";
import { type FieldKind, quotedFault, type WireReader } from "./field.ts";

const maximumString = 255;

/** One or more character-strings (RFC 1035 section 3.3), each a length byte and at most 255 bytes. */
export const characterStrings: FieldKind<readonly string[]> = {
  takes: "rest",
  parse(tokens, { where }) {
    const strings: string[] = [];
    for (const token of tokens) {
      const bytes = tokenBytes(token, where);
      if (!bytes.ok) return bytes;
      if (bytes.value.length > maximumString) return fail(stringTooLong(bytes.value.length, where));
      strings.push(bytes.value);
    }
    return ok(strings);
  },
  print: (strings) => strings.map(quote).join(" "),
  write(strings, out) {
    for (const string of strings) {
      out.push(string.length);
      writeBytes(string, out);
    }
  },
  read(wire) {
    const strings: string[] = [];
    while (wire.at < wire.end) {
      const length = wire.bytes[wire.at] ?? 0;
      wire.at += 1;
      if (wire.at + length > wire.end) return undefined;
      strings.push(readBytes(wire, length));
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
  write(value, out) {
    out.push(value.length);
    writeBytes(value, out);
  },
  read(wire) {
    const length = wire.bytes[wire.at] ?? 0;
    wire.at += 1;
    if (wire.at + length > wire.end) return undefined;
    const value = readBytes(wire, length);
    return tagText.test(value) ? value.toLowerCase() : undefined;
  },
};

/** One text without a length byte: it goes on to the end of the data. */
export const textToEnd: FieldKind<string> = {
  takes: "one",
  parse: ([token]: readonly [Token, ...Token[]], { where }) => tokenBytes(token, where),
  print: quote,
  write: writeBytes,
  read: (wire) => readBytes(wire, wire.end - wire.at),
};

const tagText = /^[a-z0-9]{1,255}$/i;
const tagRule = "a tag is a word of letters and digits, such as issue, issuewild or iodef";

function writeBytes(bytes: string, out: number[]): void {
  for (let i = 0; i < bytes.length; i++) out.push(bytes.charCodeAt(i));
}

function readBytes(wire: WireReader, length: number): string {
  let bytes = "";
  for (const byte of wire.bytes.subarray(wire.at, wire.at + length)) bytes += String.fromCharCode(byte);
  wire.at += length;
  return bytes;
}

const stringTooLong = (length: number, where: string): Fault => ({
  code: "string-too-long",
  where,
  message: `a string has ${length} bytes; it may have at most ${maximumString}`,
  todo: 'split it into several strings: "..." "..."',
});
