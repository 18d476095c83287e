import type { Fault } from "../result.ts";

/**
 * A label as its bytes in DNS, one character per byte (0 to 255), lower case. There are no escapes, so labels can be
 * measured and compared directly.
 */
export type Label = string;

export type LabelledText = {
  readonly labels: readonly Label[];
  /** The text ended with a dot. */
  readonly absolute: boolean;
};

const maximumLabel = 63;
const maximumWire = 255;

/**
 * Presentation form (RFC 1035 section 5.1): labels between dots, `\.` for a character, `\DDD` for a byte. In lower
 * case, unless asked otherwise.
 */
export function readLabels(text: string, where: string, keepsCase = false): LabelledText | readonly Fault[] {
  const faults: Fault[] = [];
  const labels: Label[] = [];
  let label = "";
  let open = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === ".") {
      faults.push(...labelFaults(label, open, where));
      labels.push(label);
      label = "";
      open = false;
      continue;
    }
    open = true;
    if (character === "\\") {
      const escaped = readEscape(text, at);
      if (escaped === undefined) {
        faults.push(badEscape(where));
        continue;
      }
      label += keepsCase ? String.fromCharCode(escaped.byte) : lowerByte(escaped.byte);
      at += escaped.length - 1;
    } else if (mayStandBare(character)) {
      label += keepsCase ? character : character.toLowerCase();
    } else if (!faults.some((fault) => fault.code === "bad-character")) {
      faults.push(badCharacter(String.fromCodePoint(text.codePointAt(at) ?? 0), where));
    }
  }
  if (open || labels.length === 0) {
    faults.push(...labelFaults(label, open, where));
    labels.push(label);
  }
  return faults.length > 0 ? faults : { labels, absolute: !open };
}

/** One length byte per label, and the root's zero. */
const wireLength = (labels: readonly Label[]): number => labels.reduce((sum, label) => sum + label.length + 1, 1);

export const fitsInName = (labels: readonly Label[]): boolean => wireLength(labels) <= maximumWire;

export const nameTooLong = (where: string): Fault => ({
  code: "name-too-long",
  where,
  message: `the whole name is longer than ${maximumWire} bytes`,
  todo: "use fewer or shorter labels",
});

/** The canonical text. It escapes the characters that have a meaning in RFC 1035, and bytes that are not printable. */
export function printLabel(label: Label): string {
  return plainLabel.test(label) ? label : label.replaceAll(/[^a-z0-9_*-]/g, printByte);
}

export const printLabels = (labels: readonly Label[]): string => labels.map(printLabel).join(".");

/** `\DDD`, or `\X` where X is not a digit. */
export function readEscape(text: string, at: number): { readonly byte: number; readonly length: number } | undefined {
  const next = text.charCodeAt(at + 1);
  if (!(next >= 0x20 && next < 0x7f)) return undefined;
  if (!isDigit(next)) return { byte: next, length: 2 };
  const second = text.charCodeAt(at + 2);
  const third = text.charCodeAt(at + 3);
  if (!isDigit(second) || !isDigit(third)) return undefined;
  const byte = (next - 0x30) * 100 + (second - 0x30) * 10 + (third - 0x30);
  return byte > 255 ? undefined : { byte, length: 4 };
}

/** A byte as `\DDD`, for bytes without a visible character. */
export const escapeByte = (byte: number): string => `\\${String(byte).padStart(3, "0")}`;

const plainLabel = /^[a-z0-9_*-]+$/;
const meaningful = /["$().;@\\]/;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Only `A` to `Z`: DNS compares all other bytes exactly (RFC 4343). */
export const lowerByte = (byte: number): string => String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);

function printByte(character: string): string {
  if (meaningful.test(character)) return `\\${character}`;
  const byte = character.charCodeAt(0);
  return byte > 0x20 && byte < 0x7f ? character : escapeByte(byte);
}

/**
 * `@` as a whole name is the apex and is handled earlier; inside a name it nearly always means a mail address by
 * mistake.
 */
const mayStandBare = (character: string): boolean =>
  character > " " && character < "\x7f" && !/["().;@\\]/.test(character);

function labelFaults(label: Label, open: boolean, where: string): readonly Fault[] {
  if (label.length > maximumLabel) {
    const start = printLabel(label.slice(0, 16));
    return [
      {
        code: "label-too-long",
        where,
        message: `the label that starts with ${start} has ${label.length} bytes; the limit is ${maximumLabel}`,
        todo: "shorten it, or split it with dots",
      },
    ];
  }
  if (open) return [];
  return [
    {
      code: "empty-label",
      where,
      message: "a label is empty: a dot at the start, or two dots in a row",
      todo: "remove the extra dot",
    },
  ];
}

const badEscape = (where: string): Fault => ({
  code: "bad-character",
  where,
  message: "a backslash must be followed by a character or by three digits up to 255",
  todo: "write \\. for a dot inside a label, \\\\ for a backslash, \\032 for the byte 32",
});

const badCharacter = (character: string, where: string): Fault => ({
  code: "bad-character",
  where,
  message: `the character ${JSON.stringify(character)} is not allowed in a name`,
  todo:
    character > "\x7f"
      ? "write the name in its ASCII form (xn--...)"
      : "use letters, digits, '-', '_', '*' and dots, or write the byte as \\DDD",
});
