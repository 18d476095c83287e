import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";
import type { Instant } from "../../core/instant.ts";
import { parseName } from "../../core/names/name.ts";
import { nameFromWire, nameToWire } from "../../core/names/wire.ts";
import { classes, headerLength, types } from "./codes.ts";
import { createNameReader } from "./read-name.ts";

/** Transaction signatures (RFC 8945): the record itself, and what a signature is computed over. */

/** By their names in messages. MD5 and SHA-1 are only for primaries that support nothing better. */
const digests = {
  "hmac-md5.sig-alg.reg.int": "md5",
  "hmac-sha1": "sha1",
  "hmac-sha256": "sha256",
  "hmac-sha384": "sha384",
  "hmac-sha512": "sha512",
} as const;

export type TsigAlgorithm = keyof typeof digests;

export type TsigKey = { readonly name: string; readonly algorithm: TsigAlgorithm; readonly secret: Uint8Array };

export const tsigErrors = { badSig: 16, badKey: 17, badTime: 18, badTrunc: 22 } as const;

/** The most seconds that the two clocks may differ, whatever the other side allows (RFC 8945 section 10). */
export const tsigFudge = 300;

/** Section 5.2.3. */
export const isOutOfTime = ({ time, fudge }: Pick<Tsig, "time" | "fudge">, clock: number): boolean =>
  Math.abs(clock - time) > Math.min(fudge, tsigFudge);

export type Tsig = {
  readonly keyName: string;
  readonly algorithm: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
};

const noBytes = new Uint8Array();

/** The TSIG record for a message, without the signature. */
export const unsignedTsig = (key: TsigKey, message: Buffer, time: number): Tsig => ({
  keyName: key.name,
  algorithm: key.algorithm,
  time,
  fudge: tsigFudge,
  mac: noBytes,
  originalId: message.readUInt16BE(0),
  error: 0,
  other: noBytes,
});

export type SignedMessage = {
  readonly tsig: Tsig;
  /** The signed bytes: without the TSIG record, and with the original id. */
  readonly message: Buffer;
};

export const isTsigAlgorithm = (name: string): name is TsigAlgorithm => Object.hasOwn(digests, name);

/** Reads `key "home" { algorithm hmac-sha256; secret "…"; };`, as BIND has it. */
export function parseKeyFile(content: string): TsigKey | "no-key" | "unknown-algorithm" {
  const word = (pattern: RegExp) => pattern.exec(content)?.[1];
  const name = parseName(word(/\bkey\s+"?([^"\s{]+)"?\s*\{/) ?? "");
  const algorithm = word(/\balgorithm\s+"?([\w.-]+?)\.?"?\s*;/)?.toLowerCase() ?? "";
  const secret = Buffer.from(word(/\bsecret\s+"?([A-Za-z0-9+/=]+)"?\s*;/) ?? "", "base64");
  if (!name.ok || name.value === "" || secret.length === 0) return "no-key";
  const algorithmName = algorithm === "hmac-md5" ? "hmac-md5.sig-alg.reg.int" : algorithm;
  if (!isTsigAlgorithm(algorithmName)) return "unknown-algorithm";
  return { name: name.value, algorithm: algorithmName, secret: new Uint8Array(secret) };
}

/** A TSIG record must be the last of a message; anywhere else, or incomplete, it is an error (section 5.1). */
export function readTsig(bytes: Buffer): SignedMessage | "no-tsig" | "malformed" {
  const last = lastRecord(bytes);
  if (last === undefined) return "malformed";
  if (last.start === undefined || last.type !== types.tsig) return last.tsigBefore ? "malformed" : "no-tsig";
  const name = createNameReader(bytes)(last.start, bytes.length);
  const tsig = name && !last.tsigBefore && readRecord(bytes, name.end, name.name.text);
  if (!tsig) return "malformed";
  const message = Buffer.from(bytes.subarray(0, last.start));
  message.writeUInt16BE(tsig.originalId, 0);
  message.writeUInt16BE(bytes.readUInt16BE(10) - 1, 10);
  return { tsig, message };
}

/** `parts`: an earlier signature, messages, and the fields of the TSIG record. */
export const computeMac = (key: TsigKey, parts: readonly Uint8Array[]): Buffer => startMac(key, parts).digest();

/** For messages that arrive one by one, so that none has to be kept. */
export function startMac(key: TsigKey, parts: readonly Uint8Array[]): Hmac {
  const hmac = createHmac(digests[key.algorithm], key.secret);
  for (const part of parts) hmac.update(part);
  return hmac;
}

const macLength = (algorithm: TsigAlgorithm): number => lengths[algorithm];

const lengths: Readonly<Record<TsigAlgorithm, number>> = {
  "hmac-md5.sig-alg.reg.int": 16,
  "hmac-sha1": 20,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
};

/** An earlier signature, in the format for the next one (section 5.3.1). */
export function priorMac(mac: Uint8Array): Buffer {
  const part = Buffer.alloc(2 + mac.length);
  part.writeUInt16BE(mac.length);
  part.set(mac, 2);
  return part;
}

/** Section 4.3.3. */
export function variables({ keyName, algorithm, time, fudge, error, other }: Omit<Tsig, "mac" | "originalId">): Buffer {
  const rest = Buffer.alloc(4);
  rest.writeUInt16BE(error, 0);
  rest.writeUInt16BE(other.length, 2);
  const classAndTtl = Buffer.from([0, classes.any, 0, 0, 0, 0]);
  return Buffer.concat([nameToWire(keyName), classAndTtl, nameToWire(algorithm), timers({ time, fudge }), rest, other]);
}

/** The only fields of the TSIG record that later messages of an answer sign (section 5.3.1). */
export function timers({ time, fudge }: Pick<Tsig, "time" | "fudge">): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(time, 0, 6);
  bytes.writeUInt16BE(fudge, 6);
  return bytes;
}

export function appendTsig(message: Buffer, tsig: Tsig): Buffer {
  const [name, algorithm] = [nameToWire(tsig.keyName), nameToWire(tsig.algorithm)];
  const head = Buffer.alloc(10);
  head.writeUInt16BE(types.tsig, 0);
  head.writeUInt16BE(classes.any, 2);
  head.writeUInt16BE(algorithm.length + 16 + tsig.mac.length + tsig.other.length, 8);
  const tail = Buffer.alloc(6);
  tail.writeUInt16BE(tsig.originalId, 0);
  tail.writeUInt16BE(tsig.error, 2);
  tail.writeUInt16BE(tsig.other.length, 4);
  const signed = Buffer.concat([message, name, head, algorithm, timers(tsig), priorMac(tsig.mac), tail, tsig.other]);
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return signed;
}

/** How many bytes a signature with this key adds to a message. */
export const tsigLength = ({ name, algorithm }: TsigKey): number =>
  nameToWire(name).length + nameToWire(algorithm).length + 10 + 16 + lengths[algorithm];

type LastRecord = { readonly start: number | undefined; readonly type: number; readonly tsigBefore: boolean };

function lastRecord(bytes: Buffer): LastRecord | undefined {
  if (bytes.length < headerLength) return undefined;
  let at: number | undefined = headerLength;
  for (let left = bytes.readUInt16BE(4); left > 0 && at !== undefined; left--) {
    const end = skipName(bytes, at);
    at = end === undefined ? undefined : end + 4;
  }
  let start: number | undefined;
  let type = 0;
  let tsigBefore = false;
  for (let left = bytes.readUInt16BE(6) + bytes.readUInt16BE(8) + bytes.readUInt16BE(10); left > 0; left--) {
    if (at === undefined) return undefined;
    const end = skipName(bytes, at);
    if (end === undefined || end + 10 > bytes.length) return undefined;
    if (start !== undefined && type === types.tsig) tsigBefore = true;
    start = at;
    type = bytes.readUInt16BE(end);
    at = end + 10 + bytes.readUInt16BE(end + 8);
  }
  if (at !== bytes.length) return undefined;
  return { start: bytes.readUInt16BE(10) === 0 ? undefined : start, type, tsigBefore };
}

function skipName(bytes: Buffer, start: number): number | undefined {
  for (let at = start; at < bytes.length; ) {
    const length = bytes[at] ?? 0;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    if (length > 63) return undefined;
    at += 1 + length;
  }
  return undefined;
}

function readRecord(bytes: Buffer, at: number, keyName: string): Tsig | undefined {
  if (bytes.readUInt16BE(at + 2) !== classes.any || bytes.readUInt32BE(at + 4) !== 0) return undefined;
  const algorithm = nameFromWire(bytes, at + 10);
  if (algorithm === undefined || algorithm.end + 10 > bytes.length) return undefined;
  const { end } = algorithm;
  const macEnd = end + 10 + bytes.readUInt16BE(end + 8);
  if (macEnd + 6 > bytes.length || macEnd + 6 + bytes.readUInt16BE(macEnd + 4) !== bytes.length) return undefined;
  return {
    keyName,
    algorithm: algorithm.name,
    time: bytes.readUIntBE(end, 6),
    fudge: bytes.readUInt16BE(end + 6),
    mac: Buffer.from(bytes.subarray(end + 10, macEnd)),
    originalId: bytes.readUInt16BE(macEnd),
    error: bytes.readUInt16BE(macEnd + 2),
    other: Buffer.from(bytes.subarray(macEnd + 6)),
  };
}

/**
 * Signs the messages of one answer, in order. It takes them with the id that the request was signed with, and returns
 * them with the id that the request arrived with: a server that forwards requests changes their ids (RFC 8945 section
 * 5.3.2).
 */
export type AddTsig = (message: Buffer) => Buffer;

/** Who sent the request, according to its signature. */
export type CheckedRequest =
  | { readonly kind: "no-tsig" }
  | { readonly kind: "malformed" }
  /** The reply is NOTAUTH; `addTsig` says why in the record. */
  | { readonly kind: "failed"; readonly message: Buffer; readonly addTsig: AddTsig }
  | {
      readonly kind: "with-tsig";
      readonly key: TsigKey;
      readonly message: Buffer;
      readonly signature: string;
      readonly addTsig: AddTsig;
    };

/** RFC 8945 section 5.2: key, then signature, then time, then length. A truncated signature is never accepted. */
export async function checkRequest(
  bytes: Buffer,
  keyNamed: (name: string) => Promise<TsigKey | undefined>,
  now: () => Instant,
): Promise<CheckedRequest> {
  const read = readTsig(bytes);
  if (typeof read === "string") return { kind: read };
  const { tsig, message } = read;
  const arrivedAs = bytes.readUInt16BE(0);
  const sent = (reply: Buffer): Buffer => {
    reply.writeUInt16BE(arrivedAs, 0);
    return reply;
  };
  const failed = (error: number): CheckedRequest => ({
    kind: "failed",
    message,
    addTsig: (m) => sent(unsigned(m, tsig, error)),
  });
  const key = await keyNamed(tsig.keyName);
  if (key === undefined || key.algorithm !== tsig.algorithm) return failed(tsigErrors.badKey);
  const full = macLength(key.algorithm);
  if (tsig.mac.length > full || tsig.mac.length < Math.max(10, full / 2)) return { kind: "malformed" };
  const mac = computeMac(key, [message, variables(tsig)]);
  if (!timingSafeEqual(mac.subarray(0, tsig.mac.length), tsig.mac)) return failed(tsigErrors.badSig);
  const clock = Math.floor(now() / 1000);
  if (isOutOfTime(tsig, clock)) {
    return { kind: "failed", message, addTsig: (m) => sent(signedLate(m, tsig, key, clock)) };
  }
  if (tsig.mac.length !== full) return failed(tsigErrors.badTrunc);
  const addTsig = tsigAdder(key, tsig.mac, now);
  const signature = mac.toString("base64");
  return { kind: "with-tsig", key, message, signature, addTsig: (m) => sent(addTsig(m)) };
}

/**
 * The signature of the first message covers all fields of the TSIG record, later ones only its timers (section 5.3.1).
 */
function tsigAdder(key: TsigKey, requestMac: Uint8Array, now: () => Instant): AddTsig {
  let prior = requestMac;
  let first = true;
  return (message) => {
    const tsig = unsignedTsig(key, message, Math.floor(now() / 1000));
    const mac = computeMac(key, [priorMac(prior), message, first ? variables(tsig) : timers(tsig)]);
    first = false;
    prior = mac;
    return appendTsig(message, { ...tsig, mac });
  };
}

/** Sections 5.2.1 and 5.2.2: there is no shared key to sign this with. */
const unsigned = (message: Buffer, tsig: Tsig, error: number): Buffer =>
  appendTsig(message, { ...tsig, mac: noBytes, originalId: message.readUInt16BE(0), error, other: noBytes });

/** Section 5.2.3: signed with the time of the request, with the server's time in `other`. */
function signedLate(message: Buffer, request: Tsig, key: TsigKey, clock: number): Buffer {
  const other = Buffer.alloc(6);
  other.writeUIntBE(clock, 0, 6);
  const tsig = { ...unsignedTsig(key, message, request.time), error: tsigErrors.badTime, other };
  const mac = computeMac(key, [priorMac(request.mac), message, variables(tsig)]);
  return appendTsig(message, { ...tsig, mac });
}
