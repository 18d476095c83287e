import { hidden } from "../../process/log.ts";

export type Redact = (text: string) => string;

/**
 * Services echo what they receive: in an error, in a header, as JSON inside JSON. So every text from a service passes
 * through here before anything else reads it. Finds secrets in plain text or in another case, URL-encoded, with JSON or
 * HTML escapes, in base64 and hexadecimal, inside a longer word, wrapped or spaced out, and cut in half.
 */
export function redactorOf(secrets: readonly string[]): Redact {
  // Shorter ones match ordinary words, and protect nothing anyway.
  const worth = [...new Set(secrets)].filter((secret) => secret.length >= shortest);
  if (worth.length === 0) return (text) => text;
  const needles = [...new Set(worth.flatMap(spellingsOf))];
  const joined = needles.map((needle) => needle.replaceAll(separators, "")).filter((needle) => needle.length >= long);
  /** A cheap check: most texts contain no secret. */
  const holdsAny = (text: string): boolean => {
    const plain = lowerCase(text).replaceAll(escapes, (...match) => readEscape(match));
    const squeezed = plain.replaceAll(separators, "");
    return needles.some((needle) => plain.includes(needle)) || joined.some((needle) => squeezed.includes(needle));
  };
  return (text) => {
    if (!holdsAny(text)) return text;
    const plain = rewritten(asSent(text), escapes, readEscape);
    const squeezed = rewritten(plain, separators, () => "");
    return withoutRanges(text, [...rangesOf(plain, needles), ...rangesOf(squeezed, joined)]);
  };
}

/** The credentials in the headers of a request: each part separately, and as sent. */
export function secretsIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|token|key|secret/i.test(name))
    .flatMap(([name, value]) => {
      // Only this header has a scheme before the secret; elsewhere, a space is part of it.
      if (name.toLowerCase() !== "authorization") return [value.trim()];
      const [, scheme = "", sent = ""] = /^(?:(\S+) +)?(.+)$/.exec(value.trim()) ?? [];
      if (scheme.toLowerCase() !== "basic") return [sent];
      const both = Buffer.from(sent, "base64").toString();
      const colon = both.indexOf(":");
      return [sent, both, both.slice(0, colon), both.slice(colon + 1)];
    });
}

/** Anyone who knows the URL of a web hook can use it. Short words such as `hooks` are not secret. */
export const secretsOfUrl = ({ pathname, searchParams }: URL): readonly string[] =>
  [...pathname.split("/"), ...searchParams.values()].filter((part) => part.length >= long);

const shortest = 4;
/** From this length on, a match with separators in between is no coincidence. */
const long = 8;
const separators = /[\s"'`,;|+\u00ad\u200b-\u200d\ufeff-]+/g;

function spellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const all = [secret, bytes.toString("latin1"), bytes.toString("hex"), ...base64Cores(bytes), ...halvesOf(secret)];
  return all.map((spelling) => spelling.toLowerCase());
}

/**
 * How a text inside another one looks in base64: the part that does not depend on its neighbours, in both alphabets.
 */
function base64Cores(secret: Buffer): readonly string[] {
  const cores = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), secret]);
    return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const forUrls = cores.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"));
  return [...cores, ...forUrls].filter((core) => core.length >= shortest);
}

/** Skips a half that could be a word or a domain name: it may be data. */
function halvesOf(secret: string): readonly string[] {
  if (secret.length < 2 * long) return [];
  const middle = secret.length >> 1;
  return [secret.slice(0, middle), secret.slice(middle)].filter((half) => !/[.:\s]|^[a-z-]+$/.test(half));
}

/** A decoded text, and the range of each of its characters in the original. */
type View = { readonly text: string; readonly starts: Uint32Array; readonly ends: Uint32Array };

function asSent(text: string): View {
  const starts = new Uint32Array(text.length).map((_, i) => i);
  return { text: lowerCase(text), starts, ends: starts.map((at) => at + 1) };
}

/** The only letter that becomes two in lower case would shift all positions after it. */
const lowerCase = (text: string) => text.replaceAll("\u0130", "i").toLowerCase();

const escapes = /\\+u([0-9a-f]{4})|\\+([^u])|%(?:25)*([0-9a-f]{2})|&(?:amp;)?#(?:x([0-9a-f]{1,6})|(\d{1,7}));/g;

function readEscape([, unit, quoted, byte, hex, decimal]: readonly (string | undefined)[]): string {
  if (quoted !== undefined) return /[nrtbf]/.test(quoted) ? " " : quoted;
  const code = decimal === undefined ? Number.parseInt(unit ?? byte ?? hex ?? "0", 16) : Number(decimal);
  return String.fromCharCode(code).toLowerCase().charAt(0);
}

/** `to` returns the one character that a match stands for, or none. */
function rewritten({ text, starts, ends }: View, pattern: RegExp, to: (match: RegExpExecArray) => string): View {
  const parts: string[] = [];
  const at = { starts: new Uint32Array(text.length), ends: new Uint32Array(text.length) };
  let count = 0;
  let from = 0;
  const keep = (first: number, last: number) => {
    at.starts[count] = starts[first] ?? 0;
    at.ends[count++] = ends[last] ?? 0;
  };
  const copyUntil = (end: number) => {
    parts.push(text.slice(from, end));
    for (; from < end; from++) keep(from, from);
  };
  for (const match of text.matchAll(pattern)) {
    copyUntil(match.index);
    from += match[0].length;
    const character = to(match);
    parts.push(character);
    if (character !== "") keep(match.index, from - 1);
  }
  copyUntil(text.length);
  return { text: parts.join(""), ...at };
}

type Range = readonly [start: number, end: number];

function rangesOf({ text, starts, ends }: View, needles: readonly string[]): readonly Range[] {
  return needles.flatMap((needle) => {
    const ranges: Range[] = [];
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      ranges.push([starts[at] ?? 0, ends[at + needle.length - 1] ?? 0]);
    }
    return ranges;
  });
}

function withoutRanges(text: string, ranges: readonly Range[]): string {
  let shown = "";
  let from = 0;
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (start >= from) shown += text.slice(from, start) + hidden;
    from = Math.max(from, end);
  }
  return shown + text.slice(from);
}
