import { nameFromWire } from "../names/wire.ts";

/** Reads one part of a record's data from `at` on. Returns where it ends; undefined if the data is not valid. */
type Part = (data: Uint8Array, at: number) => number | undefined;

/** The data must be there completely. */
const bytes =
  (count: number): Part =>
  (data, at) =>
    at + count <= data.length ? at + count : undefined;
const [u8, u16, u32] = [bytes(1), bytes(2), bytes(4)];

/** Not compressed. */
const name: Part = (data, at) => nameFromWire(data, at)?.end;

/** A length byte, and at least `least` bytes. */
const string =
  (least = 0): Part =>
  (data, at) => {
    const length = data[at];
    return length === undefined || length < least ? undefined : bytes(1 + length)(data, at);
  };

/** Everything that is left: at least `least` bytes. */
const rest =
  (least: number): Part =>
  (data, at) =>
    data.length - at >= least ? data.length : undefined;

/** As many as there are; at least `least`. */
const repeated =
  (part: Part, least: number): Part =>
  (data, at) => {
    let [next, count]: [number | undefined, number] = [at, 0];
    for (; next !== undefined && next < data.length; count++) next = part(data, next);
    return count < least ? undefined : next;
  };

const optional =
  (part: Part): Part =>
  (data, at) =>
    at === data.length ? at : part(data, at);

/** Everything that is left must be as long as its kind says, which is in an earlier byte; other kinds have at least `least` bytes. */
const sized =
  (kindAt: number, lengths: Readonly<Record<number, number>>, least: number): Part =>
  (data, at) => {
    const length = lengths[data[kindAt] ?? 0];
    return length === undefined ? rest(least)(data, at) : data.length - at === length ? data.length : undefined;
  };

/** RFC 4034 section 4.1.2: blocks of types in ascending order, each without zero bytes at its end. */
const bitmap: Part = (data, start) => {
  let last = -1;
  for (let at = start; at < data.length; ) {
    const [block = 0, length = 0] = [data[at], data[at + 1]];
    const end = at + 2 + length;
    if (block <= last || length === 0 || length > 32 || end > data.length || data[end - 1] === 0) return undefined;
    last = block;
    at = end;
  }
  return data.length;
};

/** No gateway, an address of either family, or a name. `kindOf` finds which in an earlier byte. */
const gateway =
  (kindOf: (data: Uint8Array) => number): Part =>
  (data, at) =>
    [bytes(0), bytes(4), bytes(16), name][kindOf(data)]?.(data, at);

/** RFC 1876 section 2: version 0, sizes as decimal mantissa and exponent, angles within the globe. */
const location: Part = (data, at) => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.length !== 16 || view.getUint8(0) !== 0) return undefined;
  const isSize = (i: number) => view.getUint8(i) >> 4 <= 9 && (view.getUint8(i) & 15) <= 9;
  const isWithin = (i: number, degrees: number) => Math.abs(view.getUint32(i) - 2 ** 31) <= degrees * 3_600_000;
  return [1, 2, 3].every(isSize) && isWithin(4, 90) && isWithin(8, 180) ? at + 16 : undefined;
};

/** RFC 3123 section 4. */
const addressPrefix: Part = (data, at) => {
  const family = ((data[at] ?? 0) << 8) | (data[at + 1] ?? 0);
  const [prefix, length] = [data[at + 2] ?? 0, (data[at + 3] ?? 0) & 0x7f];
  const [longest, most] = family === 1 ? [32, 4] : family === 2 ? [128, 16] : [0, 0];
  const end = at + 4 + length;
  const isValid = most > 0 && prefix <= longest && length <= most && end <= data.length;
  return isValid && (length === 0 || data[end - 1] !== 0) ? end : undefined;
};

/** RFC 8005 section 5: the lengths of both are at the beginning. */
const hostIdentity: Part = (data, at) => {
  const [tag, key] = [data[0] ?? 0, ((data[2] ?? 0) << 8) | (data[3] ?? 0)];
  return tag === 0 || key === 0 ? undefined : bytes(tag + key)(data, at);
};

/** RFC 2874 section 3.1. */
const longAddress: Part = (data, at) => {
  const prefix = data[0] ?? 255;
  if (prefix > 128) return undefined;
  const end = bytes(16 - Math.floor(prefix / 8))(data, at);
  return end !== undefined && prefix > 0 ? name(data, end) : end;
};

/** RFC 2535 section 5.2: one byte per eight types, without zero bytes at the end. */
const oldBitmap: Part = (data, at) =>
  data.length > at && data.length - at <= 16 && (data[at] ?? 0) < 128 && data.at(-1) !== 0 ? data.length : undefined;

/** RFC 1035 section 3.3.4: MX records replace it. BIND refuses the zone. */
const obsolete: Part = () => undefined;

const key = [u16, u8, u8, rest(1)];
const signature = [u16, u8, u8, u32, u32, u32, u16, name, rest(1)];
/** The lengths of SHA-1, SHA-256, GOST and SHA-384. */
const digest = [u16, u8, u8, sized(3, { 1: 20, 2: 32, 3: 32, 4: 48 }, 1)];
const texts = [repeated(string(), 1)];

/** The types that are not in the table of record types, by their numbers: their names in IANA's registry, and the parts of their data. */
const layouts: ReadonlyMap<number, readonly [string, ...Part[]]> = new Map([
  [3, ["MD", obsolete]],
  [4, ["MF", obsolete]],
  [7, ["MB", name]],
  [8, ["MG", name]],
  [9, ["MR", name]],
  [11, ["WKS", u32, u8, rest(0)]],
  [14, ["MINFO", name, name]],
  [18, ["AFSDB", u16, name]],
  [19, ["X25", string(4)]],
  [20, ["ISDN", string(), optional(string())]],
  [21, ["RT", u16, name]],
  [22, ["NSAP", rest(1)]],
  [23, ["NSAP-PTR", name]],
  [24, ["SIG", ...signature]],
  [25, ["KEY", ...key]],
  [26, ["PX", u16, name, name]],
  [27, ["GPOS", string(1), string(1), string(1)]],
  [29, ["LOC", location]],
  [30, ["NXT", name, oldBitmap]],
  [31, ["EID", rest(1)]],
  [32, ["NIMLOC", rest(1)]],
  [34, ["ATMA", u8, rest(1)]],
  [35, ["NAPTR", u16, u16, string(), string(), string(), name]],
  [36, ["KX", u16, name]],
  [37, ["CERT", u16, u16, u8, rest(1)]],
  [38, ["A6", u8, longAddress]],
  [39, ["DNAME", name]],
  [40, ["SINK", u8, u8, u8, rest(1)]],
  [42, ["APL", repeated(addressPrefix, 0)]],
  [44, ["SSHFP", u8, u8, sized(1, { 1: 20, 2: 32 }, 2)]],
  [45, ["IPSECKEY", u8, u8, u8, gateway((data) => data[1] ?? 4), rest(0)]],
  [46, ["RRSIG", ...signature]],
  [47, ["NSEC", name, bitmap]],
  [48, ["DNSKEY", ...key]],
  [49, ["DHCID", rest(1)]],
  [50, ["NSEC3", u8, u8, u16, string(), string(1), bitmap]],
  [51, ["NSEC3PARAM", u8, u8, u16, string()]],
  [53, ["SMIMEA", u8, u8, u8, rest(1)]],
  [55, ["HIP", u8, u8, u16, hostIdentity, repeated(name, 0)]],
  [56, ["NINFO", ...texts]],
  [57, ["RKEY", ...key]],
  [58, ["TALINK", name, name]],
  [59, ["CDS", ...digest]],
  [60, ["CDNSKEY", ...key]],
  [61, ["OPENPGPKEY", rest(1)]],
  [62, ["CSYNC", u32, u16, bitmap]],
  [63, ["ZONEMD", u32, u8, u8, sized(5, { 1: 48, 2: 64 }, 12)]],
  [66, ["DSYNC", u16, u8, u16, name]],
  [99, ["SPF", ...texts]],
  [104, ["NID", u16, bytes(8)]],
  [105, ["L32", u16, u32]],
  [106, ["L64", u16, bytes(8)]],
  [107, ["LP", u16, name]],
  [108, ["EUI48", bytes(6)]],
  [109, ["EUI64", bytes(8)]],
  [256, ["URI", u16, u16, rest(1)]],
  [258, ["AVC", ...texts]],
  [259, ["DOA", u32, u32, u8, string(), rest(0)]],
  [260, ["AMTRELAY", u8, u8, gateway((data) => (data[1] ?? 0) & 0x7f)]],
  [261, ["RESINFO", ...texts]],
  [262, ["WALLET", ...texts]],
  [263, ["CLA", ...texts]],
  [264, ["IPN", bytes(8)]],
  [32_768, ["TA", ...digest]],
  [32_769, ["DLV", ...digest]],
]);

/** The types whose data is checked here. */
export const layoutCodes: readonly number[] = [...layouts.keys()];

/** The name of a type that moor treats as bytes; undefined if it has none. */
export const registeredName = (code: number): string | undefined => layouts.get(code)?.[0];

/** Whether the data is valid for its type; types without a known layout may contain anything. Other servers refuse a whole zone because of one such record. */
export function isValidData(code: number, data: Uint8Array): boolean {
  const [, ...parts] = layouts.get(code) ?? [];
  if (parts.length === 0) return true;
  let at: number | undefined = 0;
  for (const part of parts) {
    at = part(data, at);
    if (at === undefined) return false;
  }
  return at === data.length;
}
