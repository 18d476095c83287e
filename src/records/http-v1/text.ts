import type { RecordType } from "../../core/rdata/table.ts";
import { quote, tokenBytes } from "../../core/rdata/tokens.ts";

/** A value of the v1 API as it is returned, and `text`, its meaning in zone-file syntax. */
export type V1Value = { readonly value: string; readonly text: string };

/**
 * Values of the v1 API are zone-file text, except TXT values that do not begin with a quote: there, blanks, semicolons and lone quotes
 * belong to the text, and escapes mean the same as inside quotes. Such a value is returned as sent, up to the 255 bytes of one string.
 * Longer text is returned as quoted strings, each followed by a blank, and text with a lone quote is returned quoted, because a
 * widely installed Ansible version cannot read it otherwise.
 */
export function readV1Value(type: RecordType, value: string): V1Value {
  if (type !== "TXT" || value === "" || isZoneFileText.test(value)) return { value, text: value };
  const { words, rest } = fullWords(value);
  const decoded = [...words, ...(isZoneFileText.test(rest) ? [] : [rest])].map(bytesOf);
  // A bad escape or half a surrogate pair: the TXT parser rejects it.
  if (decoded.includes(undefined)) return { value, text: value };
  const strings = decoded.flatMap((bytes) => chunksOf(bytes ?? "", 255)).map(quote);
  if (isZoneFileText.test(rest)) strings.push(rest.trim());
  const text = strings.join(" ");
  return { value: strings.length === 1 ? withoutLoneQuotes(value) : `${text} `, text };
}

/** Already quoted; or with a line break or NUL, which the TXT parser rejects. */
const isZoneFileText = /^\s*"|[\0\r\n]/;

/**
 * That Ansible version sends long text as words of 255 bytes separated by one blank, and quotes only the words that contain a blank.
 * So a blank after a word of exactly 255 bytes is a boundary; any other blank belongs to the text, as in a long SPF record.
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

const chunksOf = (bytes: string, size: number): readonly string[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size));

function withoutLoneQuotes(value: string): string {
  const escaped = value.replaceAll(/\\.|"/gsu, (part) => (part === '"' ? '\\"' : part));
  return escaped === value ? value : `"${escaped}"`;
}
