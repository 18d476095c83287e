import { escapeByte, readEscape } from "../../names/label.ts";
import { type Fault, fail, ok, type Result } from "../../result.ts";

/** A piece of presentation text. Escapes are still in `raw`: a name and a string read them differently. */
export type TextToken = { readonly raw: string; readonly quoted: boolean };

/** Data in the format for unknown types follows (RFC 3597 section 5). */
export const isGenericMark = (token: TextToken | undefined): boolean => token?.raw === "\\#" && !token.quoted;

/** Only text may be quoted. */
export function quotedFault(token: TextToken, where: string): Fault | undefined {
  if (!token.quoted) return undefined;
  return { code: "bad-quotes", where, message: "this field is not text: remove the quotes" };
}

const blanks = " \t";

/** Splits text at blanks. Parentheses and comments have no meaning here, only in zone files. */
export function tokenize(text: string, where: string): Result<readonly TextToken[]> {
  if (simple.test(text)) return ok([{ raw: text, quoted: false }]);
  const tokens: TextToken[] = [];
  let at = 0;
  while (at < text.length) {
    if (blanks.includes(text.charAt(at))) {
      at += 1;
      continue;
    }
    const read = readToken(text, at, blanks);
    if (read === undefined) return fail(badQuotes(where));
    tokens.push(read.token);
    at = read.end;
  }
  return ok(tokens);
}

/**
 * The token that starts here: up to its closing quote, or up to the first of `delimiters` when it is bare. Undefined
 * when a quote is not closed, or is inside a bare token, or a closing one is followed by text. In a bare token quotes
 * are allowed only after `=`, as in the parameters of SVCB records (RFC 9460 section 2.1), and stay in `raw`.
 */
export function readToken(
  text: string,
  start: number,
  delimiters: string,
): { readonly token: TextToken; readonly end: number } | undefined {
  const quoted = text[start] === '"';
  const from = quoted ? start + 1 : start;
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\") {
      at += 1;
    } else if (quoted ? character === '"' : delimiters.includes(character)) {
      return closed(text, at, quoted, from, delimiters);
    } else if (character === '"') {
      const end = at > from && text[at - 1] === "=" ? closingQuote(text, at + 1) : undefined;
      if (end === undefined || !(end === text.length || delimiters.includes(text.charAt(end)))) return undefined;
      return { token: { raw: text.slice(from, end), quoted }, end };
    }
  }
  return quoted ? undefined : { token: { raw: text.slice(from), quoted }, end: text.length };
}

/** Two quoted strings may be adjacent without a blank: some programs write long texts that way. */
function closed(text: string, at: number, quoted: boolean, from: number, delimiters: string) {
  const next = text[at + 1];
  if (quoted && next !== undefined && next !== '"' && !delimiters.includes(next)) return undefined;
  return { token: { raw: text.slice(from, at), quoted }, end: quoted ? at + 1 : at };
}

/** The position after the closing quote of the string that starts here. */
function closingQuote(text: string, start: number): number | undefined {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === "\\") at += 1;
  }
  return undefined;
}

/** The bytes of a token, one character per byte; text beyond ASCII is encoded as UTF-8. */
export function tokenBytes(token: TextToken, where: string): Result<string> {
  if (plain.test(token.raw)) return ok(token.raw);
  if (!token.raw.isWellFormed()) return fail(badCharacter(where));
  let bytes = "";
  for (let at = 0; at < token.raw.length; ) {
    const special = token.raw[at] === "\\" ? readEscape(token.raw, at) : undefined;
    const code = token.raw.codePointAt(at) ?? 0;
    if (special !== undefined) {
      bytes += String.fromCharCode(special.byte);
      at += special.length;
    } else if (code === 0x5c) {
      return fail(badEscape(where));
    } else if (code === 0x22 && !token.quoted) {
      return fail(badQuotes(where));
    } else {
      bytes += code < 0x80 ? String.fromCharCode(code) : utf8(code);
      at += code > 0xffff ? 2 : 1;
    }
  }
  return ok(bytes);
}

/** The canonical quoted token for these bytes. */
export const quote = (bytes: string): string => `"${plain.test(bytes) ? bytes : escaped(bytes)}"`;

const simple = /^[^\s"\\]+$/;
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

const escaped = (bytes: string): string =>
  bytes.replaceAll(/["\\]|[^\x20-\x7e]/g, (byte) =>
    byte === '"' || byte === "\\" ? `\\${byte}` : (escapes[byte.charCodeAt(0)] ?? ""),
  );

const escapes = Array.from({ length: 256 }, (_, byte) => escapeByte(byte));

const utf8 = (code: number): string => String.fromCharCode(...new TextEncoder().encode(String.fromCodePoint(code)));

const badQuotes = (where: string): Fault => ({
  code: "bad-quotes",
  where,
  message: "a quote is not closed, or is in the middle of a word",
  todo: 'write each string as "...", with \\" for a quote inside it',
});

const badEscape = (where: string): Fault => ({
  code: "bad-character",
  where,
  message: "a backslash must be followed by a character or by three digits up to 255",
  todo: 'write \\\\ for a backslash, \\" for a quote, \\010 for the byte 10',
});

const badCharacter = (where: string): Fault => ({
  code: "bad-character",
  where,
  message: "the text is not valid Unicode",
  todo: "send the text as UTF-8, or a byte as \\DDD",
});

/** One or more quoted strings, with blanks only between them. */
export function isQuoted(value: string): boolean {
  if (!value.startsWith('"') || !value.endsWith('"')) return false;
  const tokens = tokenize(value, "value");
  // Unbalanced quotes are reported by the TXT parser.
  return !tokens.ok || tokens.value.every((token) => token.quoted);
}
