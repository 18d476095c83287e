import { type Fault, fail, ok, type Result } from "../result.ts";
import { nameTooLong } from "./label.ts";

/**
 * Names as people write them, in the ASCII form that DNS carries: `Bücher.example` to `xn--bcher-kva.example`. Text that is
 * ASCII already stays as it is, escapes and all; whether it is a name is for the rules of names to say.
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

/** The same for text that may be no name at all, which then stays as it is. */
export function asAscii(text: string): string {
  const ascii = nameToAscii(text);
  return ascii.ok ? ascii.value : text;
}

/** A typed name, read by one of the rules for names. */
export function parseTyped(
  parse: (text: string, where: string) => Result<string>,
  text: string,
  where = "name",
): Result<string> {
  const ascii = nameToAscii(text, where);
  return ascii.ok ? parse(ascii.value, where) : ascii;
}

/** For people to read. A label that is not the one ASCII form of a Unicode label stays as it is. */
export function nameToUnicode(name: string): string {
  // An escape may hide a dot, and no name that came from Unicode has one.
  if (!/xn--/i.test(name) || name.includes("\\")) return name;
  return name.split(".").map(labelToUnicode).join(".");
}

/** Far more than any name can have: nothing longer is looked at. */
const longestText = 1020;
const longestLabel = 63;

/** The full stop, and those that IDNA takes for it (RFC 3490 section 3.1). */
const dots = /[.\u3002\uff0e\uff61]/;
const asciiText = /^[\0-\x7f]*$/;
const isAscii = (text: string): boolean => asciiText.test(text);

/**
 * Case, composition and what IDNA forbids are decided by the platform's URL parser (UTS 46), which both Node and browsers
 * have. Other ASCII characters than these mean something in a URL; the second label keeps digits from being an IPv4 address.
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

/** RFC 3492 section 6.2, with its numbers of section 5; undefined if it is not Punycode. */
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
