import { type Fault, fail, ok } from "../../result.ts";
import type { FieldKind, WirePart } from "./field.ts";
import { parseDecimal } from "./number.ts";
import { readBytes, writeBytes } from "./text.ts";
import { quotedFault } from "./tokens.ts";

/** Fields whose value is their bytes, one character per byte. */

export type BytesField = {
  /** For the user, if `read` refuses a text. */
  readonly what: string;
  readonly wire?: WirePart;
  /** Where the field ends that begins at `at`; undefined if the data is not valid. */
  readonly end: (data: Uint8Array, at: number) => number | undefined;
  readonly print: (bytes: Uint8Array) => string;
};

/** One word of text. */
export const word = (
  field: BytesField & { readonly read: (word: string) => string | undefined },
): FieldKind<string> => ({
  ...bytesField(field),
  takes: "one",
  parse([token], { where }) {
    const quoted = quotedFault(token, where);
    if (quoted !== undefined) return fail(quoted);
    const bytes = field.read(token.raw);
    return bytes === undefined ? fail(notA(field.what, where)) : ok(bytes);
  },
});

/** All words up to the end. */
export const words = (
  field: BytesField & { readonly read: (words: readonly string[]) => string | undefined },
): FieldKind<string> => ({
  ...bytesField(field),
  takes: "rest",
  parse(tokens, { where }) {
    const quoted = tokens.map((token) => quotedFault(token, where)).find((fault) => fault !== undefined);
    if (quoted !== undefined) return fail(quoted);
    const bytes = field.read(tokens.map(({ raw }) => raw));
    return bytes === undefined ? fail(notA(field.what, where)) : ok(bytes);
  },
});

/** How such a field is printed, and read from and written to messages. */
export const bytesField = ({
  wire,
  end,
  print,
}: Omit<BytesField, "what">): Omit<FieldKind<string>, "takes" | "parse"> => ({
  ...(wire !== undefined && { wire }),
  print: (value) => print(codesOf(value)),
  write: writeBytes,
  read(reader) {
    const until = end(reader.bytes, reader.at);
    return until === undefined || until > reader.bytes.length ? undefined : readBytes(reader, until - reader.at);
  },
});

/** As many as there are, or none; each is one word. */
export const repeated = (kind: FieldKind<string>): FieldKind<readonly string[]> => ({
  takes: "rest",
  absent: [],
  parse(tokens, place) {
    const values: string[] = [];
    for (const token of tokens) {
      const read = kind.parse([token], place);
      if (!read.ok) return read;
      values.push(read.value);
    }
    return ok(values);
  },
  print: (values) => values.map((value) => kind.print(value)).join(" "),
  write(values, out) {
    for (const value of values) kind.write(value, out);
  },
  read(wire) {
    const values: string[] = [];
    while (wire.at < wire.bytes.length) {
      const value = kind.read(wire);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return values;
  },
});

export const fixedEnd =
  (count: number) =>
  (data: Uint8Array, at: number): number | undefined =>
    at + count <= data.length ? at + count : undefined;

/** Bytes in base64 up to the end, in any number of words; at least one byte. */
export const base64ToEnd = base64Field({});

/** Bytes in base64; a hyphen stands for none. */
export const base64OrHyphen = base64Field({ none: "-" });

function base64Field({ none }: { readonly none?: string }): FieldKind<string> {
  return words({
    what: "base64",
    end: (data, at) => (none === undefined && data.length <= at ? undefined : data.length),
    read: (parts) => (parts.length === 1 && parts[0] === none ? "" : bytesOfBase64(parts.join(""))),
    print: (bytes) => (bytes.length === 0 ? (none ?? "") : printBase64(bytes)),
  });
}

export function bytesOfBase64(written: string): string | undefined {
  return completeBase64.test(written) && written !== "" ? atob(written) : undefined;
}

export const printBase64 = (bytes: Uint8Array): string => btoa(textOfCodes(bytes));

const completeBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** One character per byte. */
export function textOfCodes(codes: ArrayLike<number>): string {
  let bytes = "";
  for (let i = 0; i < codes.length; i++) bytes += String.fromCharCode(codes[i] ?? 0);
  return bytes;
}

const codesOf = (bytes: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: bytes.length }, (_, i) => bytes.charCodeAt(i));

export const bytesOf16 = (value: number): string => String.fromCharCode(value >> 8, value & 0xff);
export const bytesOf32 = (value: number): string => bytesOf16(value >>> 16) + bytesOf16(value & 0xffff);

/** An even number of digits. */
export const bytesOfHex = (digits: string): string =>
  textOfCodes((digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A whole number up to `most`. */
export function wholeNumber(written: string | undefined, most: number): number | undefined {
  const value = written === undefined ? undefined : parseDecimal(written);
  return value === undefined || value > most ? undefined : value;
}

export const numberIn = (bytes: Uint8Array): number => bytes.reduce((value, byte) => value * 256 + byte, 0);

export const notA = (what: string, where: string): Fault => ({
  code: "bad-data",
  where,
  message: `this is not ${what}`,
});
