import { fail, ok } from "../../result.ts";
import type { FieldKind, WireReader } from "./field.ts";
import { quotedFault } from "./tokens.ts";

export const u8 = unsigned(1, parseDecimal);
export const u16 = unsigned(2, parseDecimal);
export const u32 = unsigned(4, parseDecimal);

/** A time span: zone files write `1h30m` as well as `5400`. */
export const seconds = unsigned(4, parseSeconds);

export function parseDecimal(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** Seconds, or numbers with the units w, d, h, m, s, largest first, each at most once. */
export function parseSeconds(text: string): number | undefined {
  const match = spans.exec(text);
  if (match === null || text === "") return parseDecimal(text);
  return match.slice(1).reduce((sum, part, i) => sum + Number(part ?? 0) * (unitSeconds[i] ?? 0), 0);
}

const spans = /^(?:(\d{1,10})w)?(?:(\d{1,10})d)?(?:(\d{1,10})h)?(?:(\d{1,10})m)?(?:(\d{1,10})s)?$/i;
const unitSeconds = [604_800, 86_400, 3_600, 60, 1];

function unsigned(width: 1 | 2 | 4, parseNumber: (text: string) => number | undefined): FieldKind<number> {
  const maximum = 2 ** (8 * width) - 1;
  return {
    takes: "one",
    wire: width,
    parse([token], { where }) {
      const quoted = quotedFault(token, where);
      if (quoted !== undefined) return fail(quoted);
      const value = parseNumber(token.raw);
      if (value !== undefined && value <= maximum) return ok(value);
      return fail({ code: "bad-number", where, message: `this must be a whole number from 0 to ${maximum}` });
    },
    print: String,
    write(value, out) {
      for (let shift = 8 * (width - 1); shift >= 0; shift -= 8) out.push((value >>> shift) & 0xff);
    },
    read: (wire) => readUnsigned(wire, width),
  };
}

function readUnsigned(wire: WireReader, width: number): number | undefined {
  if (wire.at + width > wire.bytes.length) return undefined;
  let value = 0;
  for (const byte of wire.bytes.subarray(wire.at, wire.at + width)) value = value * 256 + byte;
  wire.at += width;
  return value;
}

/** A number that may be written by name; `print` decides whether its canonical text is the name. */
export function named(
  kind: FieldKind<number>,
  names: Readonly<Record<string, number>>,
  print: "name" | "number",
): FieldKind<number> {
  const nameOf = new Map(print === "name" ? Object.entries(names).map(([name, number]) => [number, name]) : []);
  return {
    ...kind,
    parse(tokens, place) {
      const [{ raw, quoted }] = tokens;
      const upper = raw.toUpperCase();
      const number = !quoted && Object.hasOwn(names, upper) ? names[upper] : undefined;
      return number === undefined ? kind.parse(tokens, place) : ok(number);
    },
    print: (value) => nameOf.get(value) ?? kind.print(value),
  };
}
