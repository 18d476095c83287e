import { asAscii } from "../../../src/core/names/unicode.ts";
import { isGenericMark, quote, tokenBytes, tokenize } from "../../../src/core/rdata/fields/tokens.ts";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { definitionOf, type RecordType } from "../../../src/core/rdata/table.ts";

/** The label and example of one field of a record's value. */
export type FieldWords = { readonly name: string; readonly label: string; readonly example: string };

/** By `TYPE.field`, or by the field alone. */
const words: Readonly<Record<string, readonly [label: string, example: string]>> = {
  "A.address": ["IPv4 address", "192.0.2.10"],
  "AAAA.address": ["IPv6 address", "2001:db8::10"],
  "CNAME.target": ["Target name", "www.example.org."],
  "NS.host": ["Nameserver", "ns1.example.net."],
  "PTR.host": ["Host name", "host.example.org."],
  "TXT.strings": ["Text", "v=spf1 mx -all"],
  "HTTPS.target": ["Target (. for the name itself)", "."],
  "SVCB.target": ["Target (. for the name itself)", "."],
  "SRV.target": ["Host", "sip.example.org."],
  "CAA.value": ["Value", "letsencrypt.org"],
  "CAA.tag": ["Tag", "issue"],
  "CAA.flags": ["Flags", "0"],
  preference: ["Priority", "10"],
  exchange: ["Mail server", "mail.example.org."],
  priority: ["Priority", "10"],
  weight: ["Weight", "5"],
  port: ["Port", "5060"],
  params: ["Parameters", "alpn=h2,h3"],
};

export function fieldsOf(type: RecordType): readonly FieldWords[] {
  return definitionOf(type).fields.map(({ name }) => {
    const [label, example] = words[`${type}.${name}`] ?? words[name] ?? [titled(name), ""];
    return { name, label, example };
  });
}

const titled = (name: string): string => {
  const spaced = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};

/** Fields with free text, which zone files write in quotes. */
const textFields = new Set(["CAA.value", "HINFO.cpu", "HINFO.os"]);

/** A value as the form shows it: one text per field, without quotes where they change nothing. */
export function splitValue(type: RecordType, value: string): readonly string[] {
  const meant = meaning(type, value);
  const plain = type === "TXT" ? [plainText(value) ?? value] : split(type, value, false);
  if (meant === undefined || meaning(type, joinValue(type, plain)) === meant) return plain;
  return type === "TXT" ? [meant] : split(type, value, true);
}

const anyZone = "zone.invalid";

const meaning = (type: RecordType, value: string): string | undefined => {
  const rdata = parseRdata(type, value, anyZone);
  return rdata.ok ? rdata.value.text : undefined;
};

function split(type: RecordType, value: string, quotes: boolean): readonly string[] {
  const tokens = tokenize(value, "value");
  if (!tokens.ok || isGenericMark(tokens.value[0])) return [value];
  return definitionOf(type).fields.map((field, i) => {
    const own = field.kind.takes === "rest" ? tokens.value.slice(i) : tokens.value.slice(i, i + 1);
    const bare = !quotes && textFields.has(`${type}.${field.name}`);
    return own.map(({ raw, quoted }) => (quoted && !bare ? `"${raw}"` : raw)).join(" ");
  });
}

/** The value as in zone files, which is what the service expects. */
export function joinValue(type: RecordType, texts: readonly string[]): string {
  if (type === "TXT") return quotedText(texts[0] ?? "");
  const { fields } = definitionOf(type);
  return fields
    .map(({ name, kind }, i) => {
      const text = (texts[i] ?? "").trim();
      if (kind.wire === "name") return asAscii(text);
      return textFields.has(`${type}.${name}`) && text !== "" && !text.startsWith('"') ? `"${text}"` : text;
    })
    .join(" ")
    .trimEnd();
}

const longestString = 255;

/** As key generators print it for zone files: in parentheses, followed by a comment. */
const bracketed = /^\(\s*("(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*)\s*\)\s*(?:;.*)?$/s;

const inQuotes = /^".*"$/s;

/** Whether a text is parsed as the strings of a zone file instead of taken literally. */
export const isQuotedText = (text: string): boolean => inQuotes.test(text.trim()) || bracketed.test(text.trim());

/** A text in quotes is taken as written, any other is trimmed. A string in DNS has at most 255 bytes. */
function quotedText(given: string): string {
  const text = bracketed.exec(given.trim())?.[1] ?? given.trim();
  if (inQuotes.test(text)) return withShortStrings(text);
  return inStrings(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}

/** Unchanged if all strings are short enough, or if it has faults, which are reported later. */
function withShortStrings(text: string): string {
  const tokens = tokenize(text, "value");
  const strings = tokens.ok ? tokens.value.map((token) => tokenBytes(token, "value")) : [];
  if (!strings.every(({ ok }) => ok)) return text;
  const read = strings.flatMap((string) => (string.ok ? [string.value] : []));
  return read.some(({ length }) => length > longestString) ? read.map(inStrings).join(" ") : text;
}

function inStrings(bytes: string): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += longestString) pieces.push(bytes.slice(at, at + longestString));
  return pieces.map(quote).join(" ");
}

/** Undefined if the bytes are not a text that can be shown and typed back. */
function plainText(value: string): string | undefined {
  const tokens = tokenize(value, "value");
  if (!tokens.ok) return undefined;
  let bytes = "";
  for (const token of tokens.value) {
    const read = tokenBytes(token, "value");
    if (!read.ok) return undefined;
    bytes += read.value;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    const isMisread = text.trim() === "" || isQuotedText(text);
    return unprintable.test(text) || isMisread ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Control characters, which cannot be typed. */
const unprintable = /\p{Cc}/u;
