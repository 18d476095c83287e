import { anyTypeCode, anyTypeName } from "../types/type-names.ts";
import { base32hex, bytesOfBase32hex } from "./base32hex.ts";
import {
  bytesOf16,
  bytesOf32,
  fixedEnd,
  type LayoutPart,
  numberIn,
  textOfCodes,
  wholeNumber,
  word,
  words,
} from "./part.ts";
import { bitsOf, bytesOfBits, typeBitmap, typesInBitmap } from "./type-bitmap.ts";

/** Parts that only the types of DNSSEC have. */

/** A record type, by its name; BIND prints the number of one without a name. */
export const recordType: LayoutPart = word("a record type", {
  end: fixedEnd(2),
  read(written) {
    const code = anyTypeCode(written) ?? wholeNumber(written, 65_535);
    return code === undefined ? undefined : bytesOf16(code);
  },
  print: (part) => anyTypeName(numberIn(part)),
});

/** RFC 4034 section 4.1.2: blocks of types in ascending order, each without zero bytes at its end. */
function bitmapEnd(data: Uint8Array, start: number): number | undefined {
  let last = -1;
  for (let at = start; at < data.length; ) {
    const [block = 0, length = 0] = [data[at], data[at + 1]];
    const end = at + 2 + length;
    if (block <= last || length === 0 || length > 32 || end > data.length || data[end - 1] === 0) return undefined;
    last = block;
    at = end;
  }
  return data.length;
}

function codesOfTypes(names: readonly string[]): readonly number[] | undefined {
  const codes = names.map(anyTypeCode);
  return codes.includes(undefined) ? undefined : codes.filter((code) => code !== undefined);
}

export const bitmap: LayoutPart = words("a list of record types", {
  end: bitmapEnd,
  read(names) {
    const types = codesOfTypes(names);
    return types && textOfCodes(typeBitmap(types));
  },
  print: (part) => typesInBitmap(part).map(anyTypeName).join(" "),
});

/** RFC 2535 section 5.2: one byte per eight types, without zero bytes at the end. */
export const oldBitmap: LayoutPart = words("a list of record types below 128", {
  end: (data, at) =>
    data.length - at >= 1 && data.length - at <= 16 && data[data.length - 1] !== 0 && ((data[at] ?? 0) & 0x80) === 0
      ? data.length
      : undefined,
  read(names) {
    const types = codesOfTypes(names);
    return types?.every((type) => type < 128) ? textOfCodes(bytesOfBits(types)) : undefined;
  },
  print: (part) => bitsOf(part).map(anyTypeName).join(" "),
});

/** RFC 4034 section 3.2: `YYYYMMDDHHmmSS` in UTC, or seconds since 1970. */
export const time: LayoutPart = word("a time such as 20301231235959", {
  end: fixedEnd(4),
  read(written) {
    const [, day, clock] = /^(\d{8})(\d{6})$/.exec(written) ?? [];
    const seconds = day === undefined || clock === undefined ? secondsOf(written) : secondsAt(day, clock);
    return seconds === undefined ? undefined : bytesOf32(seconds);
  },
  print: (part) => new Date(numberIn(part) * 1000).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14),
});

const longestTime = 2 ** 32 - 1;

function secondsOf(written: string): number | undefined {
  const seconds = /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
  return seconds <= longestTime ? seconds : undefined;
}

function secondsAt(day: string, clock: string): number | undefined {
  const iso = `${day.replace(/(....)(..)(..)/, "$1-$2-$3")}T${clock.replace(/(..)(..)(..)/, "$1:$2:$3")}`;
  const instant = Date.parse(`${iso}Z`);
  // `Date.parse` takes 30 February for 2 March.
  if (Number.isNaN(instant) || !new Date(instant).toISOString().startsWith(iso)) return undefined;
  const seconds = instant / 1000;
  // Times are compared modulo 2^32 (RFC 4034 section 3.1.5), so BIND prints late ones as years before 1970.
  return seconds >= -(2 ** 31) && seconds <= longestTime ? seconds >>> 0 : undefined;
}

const stringEnd =
  (least: number) =>
  (data: Uint8Array, at: number): number | undefined => {
    const length = data[at];
    return length === undefined || length < least ? undefined : fixedEnd(1 + length)(data, at);
  };

const withLength = (bytes: string | undefined): string | undefined =>
  bytes === undefined || bytes.length > 255 ? undefined : String.fromCharCode(bytes.length) + bytes;

/** RFC 5155 section 3.3: in hexadecimal, or `-` if there is none. */
export const salt: LayoutPart = word("a salt in hexadecimal, or -", {
  end: stringEnd(0),
  read(written) {
    if (written === "-") return "\0";
    return /^(?:[0-9a-f]{2})+$/i.test(written) ? withLength(bytesOfHex(written)) : undefined;
  },
  print: (part) => (part.length === 1 ? "-" : hexOf(part.subarray(1))),
});

/** RFC 5155 section 3.3. */
export const nextHash: LayoutPart = word("a hash in base32", {
  end: stringEnd(1),
  read: (written) => withLength(bytesOfBase32hex(written)),
  print: (part) => base32hex(part.subarray(1)),
});

/** An even number of digits. */
export const bytesOfHex = (digits: string): string =>
  textOfCodes((digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
