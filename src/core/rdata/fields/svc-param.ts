import { addressBytes, addressFromBytes, type Family, parseAddress } from "../../addresses/address.ts";
import { type Fault, fail, ok, type Result } from "../../result.ts";
import { parseDecimal } from "./number.ts";
import { quote, tokenBytes } from "./tokens.ts";

/** One parameter of an SVCB record: its key's number, and its value in wire format, one character per byte. */
export type SvcParam = { readonly key: number; readonly value: string };

export const svcKeys = { mandatory: 0, alpn: 1, noDefaultAlpn: 2 } as const;

/** As written, with the quotes: `port=53`, `alpn="h2,h3"`, `key667`. */
export function parseSvcParam(raw: string, where: string): Result<SvcParam> {
  const cut = raw.indexOf("=");
  const name = cut < 0 ? raw : raw.slice(0, cut);
  const key = keyNumber(name);
  if (key === undefined) return fail(badParameter(shortened(name), "there is no parameter with this name", where));
  const written = cut < 0 ? "" : raw.slice(cut + 1);
  const quoted = written.startsWith('"');
  const text = tokenBytes({ raw: quoted ? written.slice(1, -1) : written, quoted }, where);
  if (!text.ok) return text;
  const { kind } = definitionFor(key);
  // A known parameter written as `keyNNN` has its value as raw bytes.
  const value = name === `key${key}` ? text.value : kind.parse(text.value);
  if (value === undefined || value.length > 65_535 || kind.print(value) === undefined)
    return fail(badParameter(name, `its value must be ${kind.what}`, where));
  return ok({ key, value });
}

/** The canonical text; undefined when the bytes are not valid for this key. */
export function printSvcParam({ key, value }: SvcParam): string | undefined {
  const { name, kind } = definitionFor(key);
  const text = key > maximumKey ? undefined : kind.print(value);
  if (text === undefined || text === "") return text === undefined ? undefined : name;
  return `${name}=${/^[A-Za-z0-9_.,:/+=-]+$/.test(text) ? text : quote(text)}`;
}

export const svcKeyName = (key: number): string => definitionFor(key).name;

/** The keys that the parameter `mandatory` lists. */
export const mandatoryKeys = (value: string): readonly number[] =>
  Array.from({ length: value.length / 2 }, (_, i) => u16At(value, 2 * i));

export const badParameter = (name: string, message: string, where: string): Fault => ({
  code: "bad-parameter",
  where,
  message: `${name}: ${message}`,
});

/** Converts a value between text and bytes; undefined when it is invalid. */
type ValueKind = {
  readonly what: string;
  parse(text: string): string | undefined;
  print(value: string): string | undefined;
};

/** 65535 is reserved as the invalid key (RFC 9460 section 14.3.2). */
const maximumKey = 65_534;

const bytesText = (bytes: Iterable<number>): string => String.fromCharCode(...bytes);
const u16Text = (number: number): string => bytesText([number >> 8, number & 0xff]);
const u16At = (text: string, at: number): number => text.charCodeAt(at) * 256 + text.charCodeAt(at + 1);

const anything: ValueKind = { what: "a text", parse: (text) => text, print: (value) => value };

const nothing: ValueKind = {
  what: "left out",
  parse: (text) => (text === "" ? "" : undefined),
  print: (value) => (value === "" ? "" : undefined),
};

const keyList: ValueKind = {
  what: "a list of other parameters' names, each once, such as alpn,port",
  parse(text) {
    const keys = text.split(",").map(keyNumber);
    if (keys.some((key) => key === undefined)) return undefined;
    return keys
      .toSorted((a, b) => (a ?? 0) - (b ?? 0))
      .map((key) => u16Text(key ?? 0))
      .join("");
  },
  print(value) {
    if (value === "" || value.length % 2 === 1) return undefined;
    const keys = mandatoryKeys(value);
    const rising = keys.every((key, i) => key > (keys[i - 1] ?? svcKeys.mandatory) && key <= maximumKey);
    return rising ? keys.map(svcKeyName).join(",") : undefined;
  },
};

/** RFC 9460 appendix A.1: inside the list, `\,` is a comma and `\\` a backslash. */
const protocols: ValueKind = {
  what: "a list of protocols of 1 to 255 bytes, such as h2,h3",
  parse(text) {
    const ids = [""];
    for (let at = 0; at < text.length; at++) {
      const escaped = text[at] === "\\";
      if (escaped) at += 1;
      if (escaped && text[at] !== "\\" && text[at] !== ",") return undefined;
      if (text[at] === "," && !escaped) ids.push("");
      else ids.push(`${ids.pop()}${text.charAt(at)}`);
    }
    if (ids.some((id) => id === "" || id.length > 255)) return undefined;
    return ids.map((id) => String.fromCharCode(id.length) + id).join("");
  },
  print(value) {
    const ids: string[] = [];
    for (let at = 0; at < value.length; ) {
      const length = value.charCodeAt(at);
      const id = value.slice(at + 1, at + 1 + length);
      if (length === 0 || id.length < length) return undefined;
      ids.push(id.replaceAll(/[\\,]/g, "\\$&"));
      at += 1 + length;
    }
    return ids.length > 0 ? ids.join(",") : undefined;
  },
};

const portNumber: ValueKind = {
  what: "a port from 0 to 65535",
  parse(text) {
    const port = parseDecimal(text);
    return port === undefined || port > 65_535 ? undefined : u16Text(port);
  },
  print: (value) => (value.length === 2 ? String(u16At(value, 0)) : undefined),
};

const addressList = (family: Family, width: number, what: string): ValueKind => ({
  what,
  parse(text) {
    const addresses = text.split(",").map(parseAddress);
    if (addresses.some((address) => address?.family !== family)) return undefined;
    return addresses.map((address) => (address === undefined ? "" : bytesText(addressBytes(address)))).join("");
  },
  print(value) {
    if (value === "" || value.length % width > 0) return undefined;
    return Array.from({ length: value.length / width }, (_, i) => {
      const bytes = Uint8Array.from({ length: width }, (_byte, at) => value.charCodeAt(i * width + at));
      return addressFromBytes(bytes)?.text;
    }).join(",");
  },
});

const base64: ValueKind = {
  what: "base64 text",
  parse(text) {
    const complete = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
    return complete && text !== "" ? atob(text) : undefined;
  },
  print: (value) => (value === "" ? undefined : btoa(value)),
};

type ParamDefinition = { readonly name: string; readonly kind: ValueKind };

/** By number (RFC 9460 section 14.3.2). */
const definitions: readonly ParamDefinition[] = [
  { name: "mandatory", kind: keyList },
  { name: "alpn", kind: protocols },
  { name: "no-default-alpn", kind: nothing },
  { name: "port", kind: portNumber },
  { name: "ipv4hint", kind: addressList("ipv4", 4, "a list of IPv4 addresses, such as 192.0.2.1,192.0.2.2") },
  { name: "ech", kind: base64 },
  { name: "ipv6hint", kind: addressList("ipv6", 16, "a list of IPv6 addresses, such as 2001:db8::1,2001:db8::2") },
];

/** Names of later keys (RFC 9461, RFC 9540) are read, but not written: nameservers in use do not know them yet. */
const laterKeys: ReadonlyMap<string, number> = new Map([
  ["dohpath", 7],
  ["ohttp", 8],
]);

const definitionFor = (key: number): ParamDefinition => definitions[key] ?? { name: `key${key}`, kind: anything };

function keyNumber(name: string): number | undefined {
  const index = definitions.findIndex((definition) => definition.name === name);
  if (index >= 0) return index;
  if (laterKeys.has(name)) return laterKeys.get(name);
  const digits = /^key(0|[1-9]\d{0,4})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) > maximumKey ? undefined : Number(digits);
}

const shortened = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}...` : name);
