import { addressBytes, addressFromBytes, type Family, parseIpv4, parseIpv6 } from "../../addresses/address.ts";
import { fail, ok, type Result } from "../../result.ts";
import type { FieldPlace } from "../fields/field.ts";
import type { TextToken } from "../fields/tokens.ts";
import {
  bytesOf16,
  bytesOfBase64,
  fixedEnd,
  type LayoutPart,
  name,
  notA,
  numberIn,
  printBase64,
  restEnd,
  textOfCodes,
  wholeNumber,
  word,
  words,
} from "./part.ts";
import { bytesOfHex, hexOf } from "./signing.ts";
import { bitsOf, bytesOfBits } from "./type-bitmap.ts";

/** Parts with addresses, and those whose form depends on another part. */

export const ipv4: LayoutPart = word("an IPv4 address", {
  end: fixedEnd(4),
  read: (written) => addressIn("ipv4", written),
  print: printAddress,
});

function addressIn(family: Family, written: string): string | undefined {
  const address = family === "ipv4" ? parseIpv4(written) : parseIpv6(written);
  return address && textOfCodes(addressBytes(address));
}

function printAddress(part: Uint8Array): string {
  return addressFromBytes(part)?.text ?? "";
}

/** RFC 3123 section 4: `1:192.0.2.0/24`, and `!` before one that is excluded. */
export const addressPrefix: LayoutPart = word("a prefix such as 1:192.0.2.0/24 or !2:2001:db8::/32", {
  end(data, at) {
    const family = ((data[at] ?? 0) << 8) | (data[at + 1] ?? 0);
    const [prefix, length] = [data[at + 2] ?? 0, (data[at + 3] ?? 0) & 0x7f];
    const [longest, most] = family === 1 ? [32, 4] : family === 2 ? [128, 16] : [0, 0];
    const end = at + 4 + length;
    const isValid = most > 0 && prefix <= longest && length <= most && end <= data.length;
    return isValid && (length === 0 || data[end - 1] !== 0) ? end : undefined;
  },
  read(written) {
    const [, not = "", family = "", address = "", prefix] = /^(!?)([12]):([^/]+)\/(\d{1,3})$/.exec(written) ?? [];
    const bytes = addressIn(family === "1" ? "ipv4" : "ipv6", address)?.replace(/\0+$/, "");
    const length = wholeNumber(prefix, family === "1" ? 32 : 128);
    if (bytes === undefined || length === undefined) return undefined;
    return bytesOf16(Number(family)) + String.fromCharCode(length, bytes.length + (not ? 0x80 : 0)) + bytes;
  },
  print(part) {
    const [, family = 0, prefix = 0, length = 0] = part;
    const address = new Uint8Array(family === 1 ? 4 : 16);
    address.set(part.subarray(4));
    return `${length & 0x80 ? "!" : ""}${family}:${printAddress(address)}/${prefix}`;
  },
});

/** No gateway, an address of either family, or a name. `kindOf` finds which in an earlier byte. */
const gatewayEnd =
  (kindOf: (data: Uint8Array) => number) =>
  (data: Uint8Array, at: number): number | undefined =>
    [fixedEnd(0), fixedEnd(4), fixedEnd(16), name.end][kindOf(data)]?.(data, at);

function parseGateway(kind: number | undefined, token: TextToken | undefined, place: FieldPlace): Result<string> {
  const raw = token?.raw ?? "";
  if (kind === 3 && token !== undefined) return name.parse([token], place);
  const bytes = kind === 0 ? (raw === "." ? "" : undefined) : addressIn(kind === 1 ? "ipv4" : "ipv6", raw);
  const what =
    ["a dot, for no gateway", "an IPv4 address", "an IPv6 address"][kind ?? 3] ?? "a kind of gateway (0 to 3)";
  return bytes === undefined || kind === undefined || kind > 3 ? fail(notA(what, place.where)) : ok(bytes);
}

function printGateway(kind: number, part: Uint8Array, data: Uint8Array): string {
  if (kind === 0) return ".";
  return kind === 3 ? name.print(part, data) : printAddress(part);
}

/** RFC 4025 section 3.1: the kind of gateway, the algorithm, the gateway and the key. */
export const ipsecGateway: LayoutPart = {
  takes: "rest",
  end(data, at) {
    const end = gatewayEnd((whole) => whole[1] ?? 4)(data, at + 2);
    return end === undefined ? undefined : restEnd(0)(data, end);
  },
  parse([first, second, third, ...key], place) {
    const kind = wholeNumber(first.raw, 3);
    const algorithm = wholeNumber(second?.raw, 255);
    const gateway = parseGateway(kind, third, place);
    const bytes = key.length === 0 ? "" : bytesOfBase64(key.map(({ raw }) => raw).join(""));
    if (!gateway.ok) return gateway;
    if (algorithm === undefined || bytes === undefined)
      return fail(notA("a gateway such as 1 2 192.0.2.1 and a key in base64", place.where));
    return ok(String.fromCharCode(kind ?? 0, algorithm) + gateway.value + bytes);
  },
  print(part, data) {
    const [kind = 0, algorithm = 0] = part;
    const end = gatewayEnd(() => kind)(part, 2) ?? part.length;
    const gateway = printGateway(kind, part.subarray(2, end), data);
    return `${kind} ${algorithm} ${gateway} ${printBase64(part.subarray(end))}`.trimEnd();
  },
};

/** RFC 8777 section 4: whether discovery is optional, the kind of relay, and the relay. */
export const relay: LayoutPart = {
  takes: "rest",
  end: (data, at) => (data.length > at ? gatewayEnd((whole) => (whole[1] ?? 0) & 0x7f)(data, at + 1) : undefined),
  parse([first, second, third, ...more], place) {
    const [optional, kind] = [wholeNumber(first.raw, 1), wholeNumber(second?.raw, 3)];
    const gateway = parseGateway(kind, third, place);
    if (!gateway.ok) return gateway;
    if (optional === undefined || more.length > 0) return fail(notA("a relay such as 0 1 192.0.2.1", place.where));
    return ok(String.fromCharCode((optional << 7) | (kind ?? 0)) + gateway.value);
  },
  print(part, data) {
    const [first = 0] = part;
    return `${first >> 7} ${first & 0x7f} ${printGateway(first & 0x7f, part.subarray(1), data)}`;
  },
};

/**
 * RFC 8005 section 5: the algorithm, the tag in hexadecimal, the key in base64, and rendezvous servers. On the wire,
 * the lengths come first.
 */
export const hostIdentity: LayoutPart = {
  takes: "rest",
  end(data, at) {
    const [tag, key] = [data[at] ?? 0, ((data[at + 2] ?? 0) << 8) | (data[at + 3] ?? 0)];
    let end = tag === 0 || key === 0 ? undefined : fixedEnd(tag + key)(data, at + 4);
    while (end !== undefined && end < data.length) end = name.end(data, end);
    return end;
  },
  parse([first, second, third, ...servers], place) {
    const algorithm = wholeNumber(first.raw, 255);
    const tag = /^(?:[0-9a-f]{2}){1,255}$/i.test(second?.raw ?? "") ? bytesOfHex(second?.raw ?? "") : undefined;
    const key = bytesOfBase64(third?.raw ?? "");
    if (algorithm === undefined || tag === undefined || key === undefined || key.length > 65_535)
      return fail(notA("an algorithm, a tag in hexadecimal and a key in base64", place.where));
    let bytes = String.fromCharCode(tag.length, algorithm) + bytesOf16(key.length) + tag + key;
    for (const server of servers) {
      const read = name.parse([server], place);
      if (!read.ok) return read;
      bytes += read.value;
    }
    return ok(bytes);
  },
  print(part, data) {
    const [tag = 0, algorithm = 0] = part;
    const keyAt = 4 + tag;
    const end = keyAt + numberIn(part.subarray(2, 4));
    const texts = [`${algorithm}`, hexOf(part.subarray(4, keyAt)), printBase64(part.subarray(keyAt, end))];
    for (let at = end; at < part.length; ) {
      const next = name.end(part, at) ?? part.length;
      texts.push(name.print(part.subarray(at, next), data));
      at = next;
    }
    return texts.join(" ");
  },
};

/** RFC 2874 section 3.1: the length of the prefix, the rest of the address, and the name that has the prefix. */
export const longAddress: LayoutPart = {
  takes: "rest",
  end(data, at) {
    const prefix = data[at] ?? 255;
    if (prefix > 128) return undefined;
    const end = fixedEnd(16 - Math.floor(prefix / 8))(data, at + 1);
    return end !== undefined && prefix > 0 ? name.end(data, end) : end;
  },
  parse([first, ...others], place) {
    const prefix = wholeNumber(first.raw, 128);
    const address = prefix === 128 ? "" : addressIn("ipv6", others[0]?.raw ?? "");
    const [at, ...more] = prefix === 128 ? others : others.slice(1);
    if (prefix === undefined || address === undefined || (at === undefined) !== (prefix === 0) || more.length > 0)
      return fail(notA("a prefix length, an address and a name, such as 64 ::1 net.example.org.", place.where));
    const prefixName = at && name.parse([at], place);
    if (prefixName?.ok === false) return prefixName;
    return ok(String.fromCharCode(prefix) + address.slice(Math.floor(prefix / 8)) + (prefixName?.value ?? ""));
  },
  print(part, data) {
    const [prefix = 0] = part;
    const end = 1 + 16 - Math.floor(prefix / 8);
    const address = new Uint8Array(16);
    address.set(part.subarray(1, end), Math.floor(prefix / 8));
    const texts = [`${prefix}`, ...(prefix < 128 ? [printAddress(address)] : [])];
    return [...texts, ...(prefix > 0 ? [name.print(part.subarray(end), data)] : [])].join(" ");
  },
};

/** RFC 1035 section 3.4.2: the ports of a protocol, as numbers. */
export const ports: LayoutPart = words("a list of ports", {
  end: restEnd(0),
  read(texts) {
    const bits = texts.map((each) => wholeNumber(each, 65_535));
    return bits.includes(undefined) ? undefined : textOfCodes(bytesOfBits(bits.filter((bit) => bit !== undefined)));
  },
  print: (part) => bitsOf(part).join(" "),
});

export const protocol: LayoutPart = word("a protocol such as tcp, or its number", {
  end: fixedEnd(1),
  read(written) {
    const number = /^tcp$/i.test(written) ? 6 : /^udp$/i.test(written) ? 17 : wholeNumber(written, 255);
    return number === undefined ? undefined : String.fromCharCode(number);
  },
  print: (part) => `${part[0] ?? 0}`,
});

/** RFC 1706 section 7: `0x` and digits, between which dots have no meaning. */
export const nsap: LayoutPart = word("an address such as 0x47.0005.80", {
  end: restEnd(1),
  read(written) {
    const digits = /^0x([0-9a-f.]+)$/i.exec(written)?.[1]?.replaceAll(".", "") ?? "";
    return digits !== "" && digits.length % 2 === 0 ? bytesOfHex(digits) : undefined;
  },
  print: (part) => `0x${hexOf(part)}`,
});

/** ATM Forum af-dans-0152: `+` and a telephone number, or an end system address in hexadecimal. */
export const atmAddress: LayoutPart = word("an ATM address: + and digits, or hexadecimal", {
  end: (data, at) => restEnd(2)(data, at),
  read(written) {
    if (/^\+\d{1,255}$/.test(written)) return `\u0001${written.slice(1)}`;
    const digits = /^[0-9a-f.]+$/i.test(written) ? written.replaceAll(".", "") : "";
    return digits !== "" && digits.length % 2 === 0 ? `\0${bytesOfHex(digits)}` : undefined;
  },
  print: (part) => (part[0] === 1 ? `+${textOfCodes(part.subarray(1))}` : hexOf(part.subarray(1))),
});

/** Pairs of digits with dashes between them (RFC 7043), or groups of four with colons (RFC 6742). */
const grouped = (bytes: number, digits: 2 | 4, separator: "-" | ":"): LayoutPart => {
  const groups = new RegExp(`^[0-9a-f]{${digits === 2 ? 2 : "1,4"}}$`, "i");
  return word(`${(2 * bytes) / digits} groups of hexadecimal digits with ${separator} between them`, {
    end: fixedEnd(bytes),
    read(written) {
      const parts = written.split(separator);
      const isComplete = parts.length === (2 * bytes) / digits && parts.every((part) => groups.test(part));
      return isComplete ? bytesOfHex(parts.map((part) => part.padStart(digits, "0")).join("")) : undefined;
    },
    print: (part) => (hexOf(part).match(new RegExp(`.{${digits}}`, "g")) ?? []).join(separator),
  });
};
export const [eui48, eui64, locator] = [grouped(6, 2, "-"), grouped(8, 2, "-"), grouped(8, 4, ":")];

/** A number that may be written by name. */
const named = (bytes: 1 | 2, names: Readonly<Record<string, number>>, what: string): LayoutPart =>
  word(what, {
    end: fixedEnd(bytes),
    read(written) {
      const upper = written.toUpperCase();
      const value = Object.hasOwn(names, upper) ? names[upper] : wholeNumber(written, 256 ** bytes - 1);
      if (value === undefined) return undefined;
      return bytes === 1 ? String.fromCharCode(value) : bytesOf16(value);
    },
    print(part) {
      const value = numberIn(part);
      return Object.entries(names).find(([, code]) => code === value)?.[0] ?? `${value}`;
    },
  });

/** RFC 4398 section 2.1. */
const certificateTypes = {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
};
export const certificateType = named(2, certificateTypes, "a type of certificate such as PKIX, or its number");

/** RFC 9859 section 6.2. */
export const scheme = named(1, { NOTIFY: 1 }, "a scheme such as NOTIFY, or its number");

/** A number of 64 bits. */
export const u64: LayoutPart = word("a whole number of at most 64 bits", {
  end: fixedEnd(8),
  read(written) {
    const value = /^\d{1,20}$/.test(written) ? BigInt(written) : 2n ** 64n;
    return value < 2n ** 64n ? bytesOfHex(value.toString(16).padStart(16, "0")) : undefined;
  },
  print: (part) => String(BigInt(`0x${hexOf(part)}`)),
});
