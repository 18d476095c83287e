import { bytesOf32, words } from "./bytes.ts";

/** RFC 1876: latitude, longitude, altitude, and optionally size, horizontal and vertical precision. */
export const location = words({
  what: "a location such as 52 22 23.000 N 4 53 32.000 E -2.00m",
  end: locationEnd,
  read,
  print,
});

/** Section 2: version 0, sizes as decimal mantissa and exponent, angles within the globe. */
function locationEnd(data: Uint8Array, at: number): number | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.length !== 16 || view.getUint8(0) !== 0) return undefined;
  const isSize = (i: number) => view.getUint8(i) >> 4 <= 9 && (view.getUint8(i) & 15) <= 9;
  const isWithin = (i: number, degrees: number) => Math.abs(view.getUint32(i) - middle) <= degrees * 3_600_000;
  return [1, 2, 3].every(isSize) && isWithin(4, 90) && isWithin(8, 180) ? at + 16 : undefined;
}

/** The equator and the meridian of Greenwich. */
const middle = 2 ** 31;

/** Altitudes count from 100,000 m below the reference spheroid, in centimetres. */
const lowest = 10_000_000;

function read(texts: readonly string[]): string | undefined {
  const north = readAngle(texts, 0, /^[ns]$/i, 90);
  const east = north && readAngle(texts, north.next, /^[ew]$/i, 180);
  if (north === undefined || east === undefined) return undefined;
  const [height, ...sizes] = texts.slice(east.next).map(readMetres);
  const altitude = height === undefined ? Number.NaN : height + lowest;
  if (!(altitude >= 0 && altitude < 2 ** 32) || sizes.length > 3) return undefined;
  // The defaults of section 3: 1 m, 10,000 m and 10 m.
  const bytes = [0x12, 0x16, 0x13].map((usual, i) => (i < sizes.length ? sizeByte(sizes[i]) : usual));
  if (bytes.includes(undefined)) return undefined;
  const head = String.fromCharCode(0, ...bytes.map((byte) => byte ?? 0));
  return head + bytesOf32(north.value) + bytesOf32(east.value) + bytesOf32(altitude);
}

/** Degrees, and optionally minutes and seconds, before the letter of the hemisphere. */
function readAngle(texts: readonly string[], start: number, letter: RegExp, most: number) {
  const length = texts.slice(start, start + 4).findIndex((each) => letter.test(each));
  const [degrees = "", minutes = "0", seconds = "0"] = texts.slice(start, start + length);
  const isWritten = /^\d{1,3}$/.test(degrees) && /^\d{1,2}$/.test(minutes) && /^\d{1,2}(?:\.\d{1,3})?$/.test(seconds);
  if (length < 1 || !isWritten || Number(minutes) > 59 || Number(seconds) >= 60) return undefined;
  const angle = (Number(degrees) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1000);
  const isNegative = /^[sw]$/i.test(texts[start + length] ?? "");
  if (angle > most * 3_600_000) return undefined;
  return { value: middle + (isNegative ? -angle : angle), next: start + length + 1 };
}

/** In centimetres. */
function readMetres(written: string): number | undefined {
  return /^-?\d{1,8}(?:\.\d{1,2})?m?$/i.test(written) ? Math.round(Number.parseFloat(written) * 100) : undefined;
}

/** RFC 1876 section 2: one digit, and the power of ten; further digits are dropped. */
function sizeByte(centimetres: number | undefined): number | undefined {
  if (centimetres === undefined || centimetres < 0 || centimetres > 9e9) return undefined;
  const exponent = Math.max(0, String(centimetres).length - 1);
  return (Number(String(centimetres).charAt(0)) << 4) | exponent;
}

function print(part: Uint8Array): string {
  const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
  const sizes = [1, 2, 3].map((i) => metres((view.getUint8(i) >> 4) * 10 ** (view.getUint8(i) & 15)));
  const altitude = metres(view.getUint32(12) - lowest);
  return [printAngle(view.getUint32(4), "N", "S"), printAngle(view.getUint32(8), "E", "W"), altitude, ...sizes].join(
    " ",
  );
}

function printAngle(value: number, positive: string, negative: string): string {
  const angle = Math.abs(value - middle);
  const [degrees, minutes] = [Math.floor(angle / 3_600_000), Math.floor(angle / 60_000) % 60];
  const seconds = ((angle % 60_000) / 1000).toFixed(3);
  return `${degrees} ${minutes} ${seconds} ${value < middle ? negative : positive}`;
}

const metres = (centimetres: number): string => `${(centimetres / 100).toFixed(2)}m`;
