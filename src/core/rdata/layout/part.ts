import { parseAddress } from "../../addresses/address.ts";
import { type Label, printLabels } from "../../names/label.ts";
import { parseExactTarget } from "../../names/name.ts";
import { nameFromWire } from "../../names/wire.ts";
import { type Fault, fail, ok, type Result } from "../../result.ts";
import type { FieldKind, FieldPlace, FieldValue } from "../fields/field.ts";
import { hexToEnd } from "../fields/hex.ts";
import { addressForName } from "../fields/name.ts";
import * as numbers from "../fields/number.ts";
import { characterString, textToEnd } from "../fields/text.ts";
import { quotedFault, type TextToken } from "../fields/tokens.ts";
import { algorithm as algorithmNumber } from "../types/ds.ts";

/**
 * One part of a record's data that is kept as bytes: where it ends, and how it is written as text. Bytes are texts with
 * one character per byte. What `parse` returns need not be valid for its type; the whole data is checked afterwards.
 */
export type LayoutPart = {
  /** `rest`: all remaining tokens. Such a part is the last in the text. */
  readonly takes: "one" | "rest";
  /** May be omitted in the text; then it has no bytes. */
  readonly mayBeAbsent?: true;
  /** The position after the part that begins at `at`; undefined if the data is not valid. */
  readonly end: (data: Uint8Array, at: number) => number | undefined;
  readonly parse: (tokens: readonly [TextToken, ...TextToken[]], place: FieldPlace) => Result<string>;
  /** `data` is that of the whole record. */
  readonly print: (part: Uint8Array, data: Uint8Array) => string;
};

/** The data must be there completely. */
export const fixedEnd =
  (count: number) =>
  (data: Uint8Array, at: number): number | undefined =>
    at + count <= data.length ? at + count : undefined;

/** Everything that is left: at least `least` bytes. */
export const restEnd =
  (least: number) =>
  (data: Uint8Array, at: number): number | undefined =>
    data.length - at >= least ? data.length : undefined;

/**
 * Everything that is left must be as long as its kind says, which is in an earlier byte; other kinds have at least
 * `least` bytes.
 */
export const sizedEnd =
  (kindAt: number, lengths: Readonly<Record<number, number>>, least: number) =>
  (data: Uint8Array, at: number): number | undefined => {
    const length = lengths[data[kindAt] ?? 0];
    return length === undefined ? restEnd(least)(data, at) : data.length - at === length ? data.length : undefined;
  };

/** The text of a field that the known types have too. */
function partOf<V extends FieldValue>(kind: FieldKind<V>, end: LayoutPart["end"]): LayoutPart {
  return {
    takes: kind.takes,
    end,
    parse(tokens, place) {
      const value = kind.parse(tokens, place);
      if (!value.ok) return value;
      const out: number[] = [];
      kind.write(value.value, out);
      return ok(textOfCodes(out));
    },
    print(part) {
      const value = kind.read({ bytes: part, at: 0 });
      return value === undefined ? "" : kind.print(value);
    },
  };
}

export const u8 = partOf(numbers.u8, fixedEnd(1));
export const u16 = partOf(numbers.u16, fixedEnd(2));
export const u32 = partOf(numbers.u32, fixedEnd(4));
export const algorithm = partOf(algorithmNumber, fixedEnd(1));

/** A length byte, and at least `least` bytes. */
export const string = (least = 0): LayoutPart =>
  partOf(characterString, (data, at) => {
    const length = data[at];
    return length === undefined || length < least ? undefined : fixedEnd(1 + length)(data, at);
  });

/** Text without a length, up to the end. */
export const text = (least: number): LayoutPart => partOf(textToEnd, restEnd(least));

export const hex = (end: LayoutPart["end"]): LayoutPart => partOf(hexToEnd, end);

/** One word that `read` turns into bytes. */
export const word = (
  what: string,
  { end, read, print }: Pick<LayoutPart, "end" | "print"> & { readonly read: (word: string) => string | undefined },
): LayoutPart => ({
  takes: "one",
  end,
  parse([token], { where }) {
    const quoted = quotedFault(token, where);
    if (quoted !== undefined) return fail(quoted);
    const bytes = read(token.raw);
    return bytes === undefined ? fail(notA(what, where)) : ok(bytes);
  },
  print,
});

/** All words up to the end, each of which is read on its own. */
export const words = (
  what: string,
  {
    end,
    read,
    print,
  }: Pick<LayoutPart, "end" | "print"> & { readonly read: (words: readonly string[]) => string | undefined },
): LayoutPart => ({
  takes: "rest",
  mayBeAbsent: true,
  end,
  parse(tokens, { where }) {
    const quoted = tokens.map((token) => quotedFault(token, where)).find((fault) => fault !== undefined);
    if (quoted !== undefined) return fail(quoted);
    const bytes = read(tokens.map(({ raw }) => raw));
    return bytes === undefined ? fail(notA(what, where)) : ok(bytes);
  },
  print,
});

/** Bytes in base64 up to the end, in any number of words. `none` stands for no bytes. */
export const base64 = (end: LayoutPart["end"], none?: string): LayoutPart => ({
  ...words("base64", {
    end,
    read: (parts) => (parts.length === 1 && parts[0] === none ? "" : bytesOfBase64(parts.join(""))),
    print: (part) => (part.length === 0 ? (none ?? "") : printBase64(part)),
  }),
});

export function bytesOfBase64(written: string): string | undefined {
  return completeBase64.test(written) && written !== "" ? atob(written) : undefined;
}

export const printBase64 = (bytes: Uint8Array): string => btoa(textOfCodes(bytes));

/** A name that keeps its upper case letters, because the data stays as it is. Not compressed. */
export const name: LayoutPart = {
  takes: "one",
  end: (data, at) => nameFromWire(data, at)?.end,
  parse([token], { zoneName, where }) {
    const quoted = quotedFault(token, where);
    if (quoted !== undefined) return fail(quoted);
    if (parseAddress(token.raw) !== undefined) return fail(addressForName(token.raw, where));
    const labels = parseExactTarget(token.raw, zoneName, where);
    if (!labels.ok) return fail(...labels.faults.map((fault) => ({ ...fault, code: "bad-name" })));
    return ok(`${labels.value.map((label) => String.fromCharCode(label.length) + label).join("")}\0`);
  },
  print: (part) => `${printLabels(labelsIn(part))}.`,
};

/** The labels of a valid name, as they are. */
function labelsIn(wire: Uint8Array): readonly Label[] {
  const labels: Label[] = [];
  for (let at = 0; (wire[at] ?? 0) > 0; at += 1 + (wire[at] ?? 0))
    labels.push(textOfCodes(wire.subarray(at + 1, at + 1 + (wire[at] ?? 0))));
  return labels;
}

/** As many as there are; at least `least`. In the text they are the last. */
export const repeated = (part: LayoutPart, least: number): LayoutPart => ({
  takes: "rest",
  ...(least === 0 && { mayBeAbsent: true as const }),
  end(data, at) {
    let [next, count]: [number | undefined, number] = [at, 0];
    for (; next !== undefined && next < data.length; count++) next = part.end(data, next);
    return count < least ? undefined : next;
  },
  parse(tokens, place) {
    let bytes = "";
    for (const token of tokens) {
      const read = part.parse([token], place);
      if (!read.ok) return read;
      bytes += read.value;
    }
    return ok(bytes);
  },
  print(whole, data) {
    const printed: string[] = [];
    for (let at = 0; at < whole.length; ) {
      const end = part.end(whole, at) ?? whole.length;
      printed.push(part.print(whole.subarray(at, end), data));
      at = end;
    }
    return printed.join(" ");
  },
});

export const optional = (part: LayoutPart): LayoutPart => ({
  ...part,
  mayBeAbsent: true,
  end: (data, at) => (at === data.length ? at : part.end(data, at)),
  print: (bytes, data) => (bytes.length === 0 ? "" : part.print(bytes, data)),
});

/** One character per byte. */
export function textOfCodes(codes: ArrayLike<number>): string {
  let bytes = "";
  for (let i = 0; i < codes.length; i++) bytes += String.fromCharCode(codes[i] ?? 0);
  return bytes;
}

export const codesOf = (bytes: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: bytes.length }, (_, i) => bytes.charCodeAt(i));

export const bytesOf16 = (value: number): string => String.fromCharCode(value >> 8, value & 0xff);
export const bytesOf32 = (value: number): string => bytesOf16(value >>> 16) + bytesOf16(value & 0xffff);

/** A whole number up to `most`. */
export function wholeNumber(written: string | undefined, most: number): number | undefined {
  const value = written === undefined ? undefined : numbers.parseDecimal(written);
  return value === undefined || value > most ? undefined : value;
}

export const numberIn = (bytes: Uint8Array): number => bytes.reduce((value, byte) => value * 256 + byte, 0);

const completeBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const notA = (what: string, where: string): Fault => ({
  code: "bad-data",
  where,
  message: `this is not ${what}`,
});
