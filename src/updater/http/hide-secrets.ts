import { hidden } from "../../process/log.ts";

export type Hide = (text: string) => string;

/**
 * Services repeat what they were sent: in an error, in a header, as JSON inside JSON. So every text that comes back from one
 * passes here before anything else reads it. Finds the secrets plain or in another case, URL-encoded, with the escapes of JSON
 * and HTML, in base64 and in hexadecimal, as part of a longer word, wrapped or spaced out, and cut in half.
 */
export function hiderOf(secrets: readonly string[]): Hide {
  // Shorter ones are in every other word, and nobody is kept out by them.
  const worth = [...new Set(secrets)].filter((secret) => secret.length >= shortest);
  if (worth.length === 0) return (text) => text;
  const needles = [...new Set(worth.flatMap(spellingsOf))];
  const joined = needles.map((needle) => needle.replaceAll(separators, "")).filter((needle) => needle.length >= long);
  /** Most texts hold none, and are not taken apart to say so. */
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

/** The credentials in the headers of a request, each part alone and as it is sent. */
export function secretsIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|token|key|secret/i.test(name))
    .flatMap(([, value]) => {
      const [, scheme = "", sent = ""] = /^(?:(\S+) +)?(.+)$/.exec(value.trim()) ?? [];
      if (scheme.toLowerCase() !== "basic") return [sent];
      const both = Buffer.from(sent, "base64").toString();
      const colon = both.indexOf(":");
      return [sent, both, both.slice(0, colon), both.slice(colon + 1)];
    });
}

/** Whoever knows the address of a web hook can use it. Short words such as `hooks` are no secret. */
export const secretsOfUrl = ({ pathname, searchParams }: URL): readonly string[] =>
  [...pathname.split("/"), ...searchParams.values()].filter((part) => part.length >= long);

const shortest = 4;
/** From this length on, characters that spell the secret with others between them are no accident. */
const long = 8;
const separators = /[\s"'`,;|+\u00ad\u200b-\u200d\ufeff-]+/g;

function spellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const all = [secret, bytes.toString("latin1"), bytes.toString("hex"), ...base64Cores(bytes), ...halvesOf(secret)];
  return all.map((spelling) => spelling.toLowerCase());
}

/** What base64 makes of a text in the midst of another: the part that does not depend on its neighbours, in both alphabets. */
function base64Cores(secret: Buffer): readonly string[] {
  const cores = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), secret]);
    return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const forUrls = cores.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"));
  return [...cores, ...forUrls].filter((core) => core.length >= shortest);
}

/** A half that could be a word or a domain name is left: it may be data. */
function halvesOf(secret: string): readonly string[] {
  if (secret.length < 2 * long) return [];
  const middle = secret.length >> 1;
  return [secret.slice(0, middle), secret.slice(middle)].filter((half) => !/[.:\s]|^[a-z-]+$/.test(half));
}

/** A text as it reads, and from where to where each of its characters stands in the one that was sent. */
type View = { readonly text: string; readonly starts: Uint32Array; readonly ends: Uint32Array };

function asSent(text: string): View {
  const starts = new Uint32Array(text.length).map((_, i) => i);
  return { text: lowerCase(text), starts, ends: starts.map((at) => at + 1) };
}

/** The one letter that becomes two in lower case would move all that follow. */
const lowerCase = (text: string) => text.replaceAll("\u0130", "i").toLowerCase();

const escapes = /\\+u([0-9a-f]{4})|\\+([^u])|%(?:25)*([0-9a-f]{2})|&(?:amp;)?#(?:x([0-9a-f]{1,6})|(\d{1,7}));/g;

function readEscape([, unit, quoted, byte, hex, decimal]: readonly (string | undefined)[]): string {
  if (quoted !== undefined) return /[nrtbf]/.test(quoted) ? " " : quoted;
  const code = decimal === undefined ? Number.parseInt(unit ?? byte ?? hex ?? "0", 16) : Number(decimal);
  return String.fromCharCode(code).toLowerCase().charAt(0);
}

/** `to` gives the one character that a match stands for, or none. */
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
