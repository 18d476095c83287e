import { isUtf8 } from "node:buffer";
import { quote, tokenBytes } from "../../../core/rdata/fields/tokens.ts";
import type { ZoneRecord } from "../../../core/records/rrset.ts";

/**
 * The meaning of the value of a TXT record in zone-file syntax. Values of the v1 API are zone-file text, except TXT
 * values that do not begin with a quote: there, blanks, semicolons and lone quotes belong to the text, and escapes mean
 * the same as inside quotes.
 */
export function readV1Text(value: string): string {
  if (value === "" || isZoneFileText.test(value)) return value;
  const { words, rest } = fullWords(value);
  const decoded = [...words, ...(isZoneFileText.test(rest) ? [] : [rest])].map(bytesOf);
  // A bad escape or half a surrogate pair: the TXT parser rejects it.
  if (decoded.includes(undefined)) return value;
  const strings = decoded.flatMap((bytes) => stringsOf(bytes ?? "")).map(quote);
  if (isZoneFileText.test(rest)) strings.push(rest.trim());
  return strings.join(" ");
}

/**
 * The value of a TXT record that this API shows: as it was sent, whichever API or file it came from. Some are printed
 * again, because clients could not read them. community.dns gives up on the whole zone at an escape other than `\"` and
 * `\\`, at a quote in unquoted text and at tabs between strings; its version 2 also reads `\DDD` as octal. octoDNS
 * joins strings only at `" "`, and removes the last character as the closing quote.
 */
export function shownV1Text({ value, rdata }: Pick<ZoneRecord, "value" | "rdata">): string {
  if (quotedStrings.test(value) || (bareText.test(value) && oneString.test(rdata))) return value;
  return rdata.replaceAll(escapes, (escape) => (/^\\\d/.test(escape) ? characters(escape) : escape));
}

const quotedStrings = /^"(?:[^"\\]|\\["\\])*"(?: "(?:[^"\\]|\\["\\])*")*$/;
const bareText = /^(?:[^"\\]|\\["\\])*$/;
const oneString = /^"(?:[^"\\]|\\.)*"$/;

/** An escaped quote or backslash, or bytes beyond ASCII. */
const escapes = /\\["\\]|(?:\\(?:12[89]|1[3-9]\d|2\d\d))+/g;

/** The characters of escaped bytes, if they are UTF-8. */
function characters(escaped: string): string {
  const bytes = Buffer.from(escaped.split("\\").slice(1).map(Number));
  return isUtf8(bytes) ? bytes.toString("utf8") : escaped;
}

/** Already quoted; or with a line break or NUL, which the TXT parser rejects. */
const isZoneFileText = /^\s*"|[\0\r\n]/;

/**
 * Version 2 of community.dns sends long text as words of 255 bytes separated by one blank, and quotes only the words
 * that contain a blank. So a blank after a word of exactly 255 bytes is a boundary; any other blank belongs to the
 * text, as in a long SPF record.
 */
function fullWords(value: string): { readonly words: readonly string[]; readonly rest: string } {
  const words: string[] = [];
  let rest = value;
  for (;;) {
    const word = /^[^ ]{64,255}(?= )/.exec(rest)?.[0];
    if (word === undefined || Buffer.byteLength(word) !== 255) return { words, rest };
    words.push(word);
    rest = rest.slice(word.length + 1);
  }
}

/** Decodes as inside quotes, except that a lone quote, which cannot occur there, stands for itself. */
function bytesOf(text: string): string | undefined {
  const bytes = tokenBytes({ raw: text, quoted: true }, "value");
  return bytes.ok ? bytes.value : undefined;
}

/** Strings of up to 255 bytes. None ends inside a UTF-8 character, so that each can be shown as text. */
function stringsOf(bytes: string): readonly string[] {
  const strings: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = start + 255;
    const cut = [end, end - 1, end - 2, end - 3].find((at) => !isContinuation(bytes.charCodeAt(at))) ?? end;
    strings.push(bytes.slice(start, cut));
    start = cut;
  }
  return strings;
}

const isContinuation = (byte: number): boolean => byte >= 0x80 && byte < 0xc0;
