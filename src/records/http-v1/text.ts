import type { RecordType } from "../../core/rdata/table.ts";
import { quote, tokenBytes } from "../../core/rdata/tokens.ts";

/** A value of the v1 API: what is given back for it, and what it says in the syntax of zone files. */
export type V1Value = { readonly value: string; readonly text: string };

/**
 * Values of the v1 API are zone-file text, except TXT that does not begin with a quote: there, blanks, semicolons and lone quotes
 * belong to the text; escapes mean what they mean in quotes. It is given back as sent, up to the 255 bytes of one string. Longer
 * text comes back as quoted strings with one blank behind each, and text with a lone quote comes back quoted, because a widely
 * installed Ansible version cannot read it otherwise.
 */
export function readV1Value(type: RecordType, value: string): V1Value {
  if (type !== "TXT" || value === "" || isZoneFileText.test(value)) return { value, text: value };
  const { words, rest } = fullWords(value);
  const decoded = [...words, ...(isZoneFileText.test(rest) ? [] : [rest])].map(bytesOf);
  // A bad escape, or half a surrogate: the rule for the type refuses it.
  if (decoded.includes(undefined)) return { value, text: value };
  const strings = decoded.flatMap((bytes) => chunksOf(bytes ?? "", 255)).map(quote);
  if (isZoneFileText.test(rest)) strings.push(rest.trim());
  const text = strings.join(" ");
  return { value: strings.length === 1 ? withoutLoneQuotes(value) : `${text} `, text };
}

/** Quoted already; or with a line break or NUL in it, which the rule for the type refuses. */
const isZoneFileText = /^\s*"|[\0\r\n]/;

/**
 * That Ansible version writes long text as words of 255 bytes, each quoted only if it has a blank in it, and one blank between. So
 * the blank after a word of exactly 255 bytes is a boundary; any other blank belongs to the text, as in a long SPF record.
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

/** As in quotes, where a lone quote cannot stand: here it is a quote. */
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
