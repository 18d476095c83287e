import { type Fault, fail, ok, type Result } from "../result.ts";
import { nameTooLong } from "./label.ts";

/**
 * Converts a name to the ASCII form that DNS uses: `Bücher.example` to `xn--bcher-kva.example`. ASCII text is returned
 * unchanged, including escapes, and not checked.
 */
export function nameToAscii(text: string, where = "name"): Result<string> {
  if (isAscii(text)) return ok(text);
  if (text.length > longestText) return fail(nameTooLong(where));
  const labels: string[] = [];
  for (const label of text.split(dots)) {
    const ascii = isAscii(label) ? label : labelToAscii(label);
    if (ascii === undefined) return fail(badLabel(label, where));
    labels.push(ascii);
  }
  return ok(labels.join("."));
}

/** Like `nameToAscii`, but text that cannot be converted is returned unchanged. */
export function asAscii(text: string): string {
  const ascii = nameToAscii(text);
  return ascii.ok ? ascii.value : text;
}

/** Parses a name that a person typed: `parse` gets its ASCII form. */
export function parseTyped(
  parse: (text: string, where: string) => Result<string>,
  text: string,
  where = "name",
): Result<string> {
  const ascii = nameToAscii(text, where);
  return ascii.ok ? parse(ascii.value, where) : ascii;
}

/** For display. A label that is not the ASCII form of a Unicode label stays unchanged. */
export function nameToUnicode(name: string): string {
  // An escape may contain a dot, and names from Unicode never have escapes.
  if (!/xn--/i.test(name) || name.includes("\\")) return name;
  return name.split(".").map(labelToUnicode).join(".");
}

/** No name is longer. Longer text is not parsed at all. */
const longestText = 1020;
const longestLabel = 63;

/** The full stop, and the characters that IDNA treats as one (RFC 3490 section 3.1). */
const dots = /[.\u3002\uff0e\uff61]/;
const asciiText = /^[\0-\x7f]*$/;
const isAscii = (text: string): boolean => asciiText.test(text);

/**
 * The URL parser of Node and browsers handles case, composition and what IDNA forbids (UTS 46). ASCII characters other
 * than letters, digits, `_`, `*` and `-` are refused first, because they may have a meaning in URLs; the second label
 * prevents digits from being read as an IPv4 address.
 */
function labelToAscii(label: string): string | undefined {
  if (!/^[a-z0-9_*-]*$/i.test(label.replaceAll(/[^\0-\x7f]/g, "")) || !URL.canParse(`http://${label}.x`))
    return undefined;
  const host = new URL(`http://${label}.x`).hostname.slice(0, -2);
  return host === "" || host.includes(".") ? undefined : host;
}

function labelToUnicode(label: string): string {
  if (label.length > longestLabel) return label;
  const decoded = /^xn--/i.test(label) ? decodePunycode(label.slice(4).toLowerCase()) : undefined;
  if (decoded === undefined || isAscii(decoded)) return label;
  return labelToAscii(decoded) === label.toLowerCase() ? decoded : label;
}

/** RFC 3492 section 6.2, with the parameters of section 5; undefined if it is not Punycode. */
function decodePunycode(text: string): string | undefined {
  const cut = text.lastIndexOf("-");
  const points = Array.from(text.slice(0, Math.max(cut, 0)), (character) => character.charCodeAt(0));
  let point = 128;
  let bias = 72;
  let i = 0;
  for (let at = cut + 1; at < text.length; ) {
    const start = i;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = digits.indexOf(text.charAt(at++) || "?");
      if (digit < 0) return undefined;
      i += digit * weight;
      if (i > 0x7fff_ffff) return undefined;
      const threshold = Math.min(Math.max(k - bias, 1), 26);
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const count = points.length + 1;
    bias = adapt(i - start, count, start === 0);
    point += Math.floor(i / count);
    if (point > 0x10_ffff) return undefined;
    i %= count;
    points.splice(i++, 0, point);
  }
  return String.fromCodePoint(...points);
}

const digits = "abcdefghijklmnopqrstuvwxyz0123456789";

/** RFC 3492 section 6.1. */
function adapt(delta: number, count: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? 700 : 2));
  rest += Math.floor(rest / count);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}

const badLabel = (label: string, where: string): Fault => ({
  code: "bad-character",
  where,
  message: `${JSON.stringify(label.slice(0, 40))} cannot be written as a DNS name`,
  todo: "use letters, digits, '-' and '_'; letters of other scripts are fine, symbols are not",
});
