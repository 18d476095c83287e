import { addressBytes, addressFromBytes, type Family, parseIpv4, parseIpv6 } from "../../addresses/address.ts";
import { fail, ok, type Result } from "../../result.ts";
import {
  bytesField,
  bytesOf16,
  bytesOfBase64,
  bytesOfHex,
  fixedEnd,
  hexOf,
  notA,
  numberIn,
  printBase64,
  textOfCodes,
  wholeNumber,
  word,
} from "./bytes.ts";
import type { FieldKind, FieldPlace } from "./field.ts";
import { exactName } from "./name.ts";
import type { TextToken } from "./tokens.ts";

/** Fields with addresses, and those whose form depends on a part of them. */

function addressIn(family: Family, written: string): string | undefined {
  const address = family === "ipv4" ? parseIpv4(written) : parseIpv6(written);
  return address && textOfCodes(addressBytes(address));
}

const printAddress = (bytes: Uint8Array): string => addressFromBytes(bytes)?.text ?? "";

/** RFC 3123 section 4: `1:192.0.2.0/24`, and `!` before one that is excluded. */
export const addressPrefix = word({
  what: "a prefix such as 1:192.0.2.0/24 or !2:2001:db8::/32",
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
  print(bytes) {
    const [, family = 0, prefix = 0, length = 0] = bytes;
    const address = new Uint8Array(family === 1 ? 4 : 16);
    address.set(bytes.subarray(4));
    return `${length & 0x80 ? "!" : ""}${family}:${printAddress(address)}/${prefix}`;
  },
});

const nameEnd = (data: Uint8Array, at: number): number | undefined => {
  const wire = { bytes: data, at };
  return exactName.read(wire) === undefined ? undefined : wire.at;
};

/** No gateway, an address of either family, or a name. */
const gatewayEnd = (kind: number, data: Uint8Array, at: number): number | undefined =>
  [fixedEnd(0), fixedEnd(4), fixedEnd(16), nameEnd][kind]?.(data, at);

function parseGateway(kind: number | undefined, token: TextToken | undefined, place: FieldPlace): Result<string> {
  const raw = token?.raw ?? "";
  if (kind === 3 && token !== undefined) return exactName.parse([token], place);
  const bytes = kind === 0 ? (raw === "." ? "" : undefined) : addressIn(kind === 1 ? "ipv4" : "ipv6", raw);
  const what =
    ["a dot, for no gateway", "an IPv4 address", "an IPv6 address"][kind ?? 3] ?? "a kind of gateway (0 to 3)";
  return bytes === undefined || kind === undefined || kind > 3 ? fail(notA(what, place.where)) : ok(bytes);
}

function printGateway(kind: number, bytes: Uint8Array): string {
  if (kind === 0) return ".";
  return kind === 3 ? exactName.print(textOfCodes(bytes)) : printAddress(bytes);
}

/** RFC 4025 section 3.1: the kind of gateway, the algorithm, the gateway and the key. */
export const ipsecGateway: FieldKind<string> = {
  takes: "rest",
  ...bytesField({
    end: (data, at) => gatewayEnd(data[at] ?? 4, data, at + 2) && data.length,
    print(bytes) {
      const [kind = 0, algorithm = 0] = bytes;
      const end = gatewayEnd(kind, bytes, 2) ?? bytes.length;
      return `${kind} ${algorithm} ${printGateway(kind, bytes.subarray(2, end))} ${printBase64(bytes.subarray(end))}`.trimEnd();
    },
  }),
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
};

/** RFC 8777 section 4: whether discovery is optional, the kind of relay, and the relay. */
export const relay: FieldKind<string> = {
  takes: "rest",
  ...bytesField({
    end: (data, at) => (data.length > at ? gatewayEnd((data[at] ?? 0) & 0x7f, data, at + 1) : undefined),
    print([first = 0, ...gateway]) {
      return `${first >> 7} ${first & 0x7f} ${printGateway(first & 0x7f, Uint8Array.from(gateway))}`;
    },
  }),
  parse([first, second, third, ...more], place) {
    const [optional, kind] = [wholeNumber(first.raw, 1), wholeNumber(second?.raw, 3)];
    const gateway = parseGateway(kind, third, place);
    if (!gateway.ok) return gateway;
    if (optional === undefined || more.length > 0) return fail(notA("a relay such as 0 1 192.0.2.1", place.where));
    return ok(String.fromCharCode((optional << 7) | (kind ?? 0)) + gateway.value);
  },
};

/**
 * RFC 8005 section 5: the algorithm, the tag in hexadecimal and the key in base64. On the wire, the lengths come first.
 */
export const hostIdentity: FieldKind<string> = {
  takes: "rest",
  ...bytesField({
    end(data, at) {
      const [tag, key] = [data[at] ?? 0, ((data[at + 2] ?? 0) << 8) | (data[at + 3] ?? 0)];
      let end = tag === 0 || key === 0 ? undefined : fixedEnd(tag + key)(data, at + 4);
      while (end !== undefined && end < data.length) end = nameEnd(data, end);
      return end;
    },
    print(bytes) {
      const [tag = 0, algorithm = 0] = bytes;
      const keyAt = 4 + tag;
      const end = keyAt + numberIn(bytes.subarray(2, 4));
      const texts = [`${algorithm}`, hexOf(bytes.subarray(4, keyAt)), printBase64(bytes.subarray(keyAt, end))];
      for (let at = end; at < bytes.length; ) {
        const next = nameEnd(bytes, at) ?? bytes.length;
        texts.push(exactName.print(textOfCodes(bytes.subarray(at, next))));
        at = next;
      }
      return texts.join(" ");
    },
  }),
  parse([first, second, third, ...servers], place) {
    const algorithm = wholeNumber(first.raw, 255);
    const tag = /^(?:[0-9a-f]{2}){1,255}$/i.test(second?.raw ?? "") ? bytesOfHex(second?.raw ?? "") : undefined;
    const key = bytesOfBase64(third?.raw ?? "");
    if (algorithm === undefined || tag === undefined || key === undefined || key.length > 65_535)
      return fail(notA("an algorithm, a tag in hexadecimal and a key in base64", place.where));
    let bytes = String.fromCharCode(tag.length, algorithm) + bytesOf16(key.length) + tag + key;
    for (const server of servers) {
      const read = exactName.parse([server], place);
      if (!read.ok) return read;
      bytes += read.value;
    }
    return ok(bytes);
  },
};

/** Pairs of digits with dashes between them (RFC 7043), or groups of four with colons (RFC 6742). */
const grouped = (bytes: number, digits: 2 | 4, separator: "-" | ":"): FieldKind<string> => {
  const groups = new RegExp(`^[0-9a-f]{${digits === 2 ? 2 : "1,4"}}$`, "i");
  return word({
    what: `${(2 * bytes) / digits} groups of hexadecimal digits with ${separator} between them`,
    end: fixedEnd(bytes),
    read(written) {
      const parts = written.split(separator);
      const isComplete = parts.length === (2 * bytes) / digits && parts.every((part) => groups.test(part));
      return isComplete ? bytesOfHex(parts.map((part) => part.padStart(digits, "0")).join("")) : undefined;
    },
    print: (all) => (hexOf(all).match(new RegExp(`.{${digits}}`, "g")) ?? []).join(separator),
  });
};
export const [eui48, eui64, locator] = [grouped(6, 2, "-"), grouped(8, 2, "-"), grouped(8, 4, ":")];

/** A number of 64 bits. */
export const u64 = word({
  what: "a whole number of at most 64 bits",
  end: fixedEnd(8),
  read(written) {
    const value = /^\d{1,20}$/.test(written) ? BigInt(written) : 2n ** 64n;
    return value < 2n ** 64n ? bytesOfHex(value.toString(16).padStart(16, "0")) : undefined;
  },
  print: (bytes) => String(BigInt(`0x${hexOf(bytes)}`)),
});
