import { base32hex, bytesOfBase32hex } from "./base32hex.ts";
import {
  bytesOf16,
  bytesOf32,
  bytesOfHex,
  fixedEnd,
  hexOf,
  numberIn,
  textOfCodes,
  wholeNumber,
  word,
  words,
} from "./bytes.ts";
import type { FieldKind } from "./field.ts";
import { typeBitmap, typesInBitmap } from "./type-bitmap.ts";
import { anyTypeCode, anyTypeName } from "./type-names.ts";

/** Fields that only the types of DNSSEC have. */

/** A record type, by its name; BIND prints the number of one without a name. */
export const recordType = word({
  what: "a record type",
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

export const bitmap: FieldKind<string> = {
  ...words({
    what: "a list of record types",
    end: bitmapEnd,
    read(names) {
      const types = names.map(anyTypeCode).filter((code) => code !== undefined);
      return types.length === names.length ? textOfCodes(typeBitmap(types)) : undefined;
    },
    print: (part) => typesInBitmap(part).map(anyTypeName).join(" "),
  }),
  absent: "",
};

/** RFC 4034 section 3.2: `YYYYMMDDHHmmSS` in UTC, or seconds since 1970. */
export const time = word({
  what: "a time such as 20301231235959",
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
export const salt = word({
  what: "a salt in hexadecimal, or -",
  end: stringEnd(0),
  read(written) {
    if (written === "-") return "\0";
    return /^(?:[0-9a-f]{2})+$/i.test(written) ? withLength(bytesOfHex(written)) : undefined;
  },
  print: (part) => (part.length === 1 ? "-" : hexOf(part.subarray(1))),
});

/** RFC 5155 section 3.3. */
export const nextHash = word({
  what: "a hash in base32",
  end: stringEnd(1),
  read: (written) => withLength(bytesOfBase32hex(written)),
  print: (part) => base32hex(part.subarray(1)),
});
