import { timingSafeEqual } from "node:crypto";
import type { Instant } from "../../core/instant.ts";
import {
  appendTsig,
  computeMac,
  isOutOfTime,
  macLength,
  noBytes,
  priorMac,
  readTsig,
  type Tsig,
  type TsigKey,
  timers,
  tsigErrors,
  unsignedTsig,
  variables,
} from "./tsig.ts";

/**
 * Signs the messages of one answer, in order. It takes them with the id that the request was signed with, and returns them with
 * the id that the request arrived with: a server that forwards requests changes their ids (RFC 8945 section 5.3.2).
 */
export type Signer = (message: Buffer) => Buffer;

/** Who sent the request, according to its signature. */
export type CheckedRequest =
  | { readonly kind: "unsigned" }
  | { readonly kind: "malformed" }
  /** The reply is NOTAUTH; `sign` adds a TSIG record with the reason. */
  | { readonly kind: "failed"; readonly message: Buffer; readonly sign: Signer }
  | {
      readonly kind: "signed";
      readonly key: TsigKey;
      readonly message: Buffer;
      readonly signature: string;
      readonly sign: Signer;
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
    sign: (m) => sent(unsigned(m, tsig, error)),
  });
  const key = await keyNamed(tsig.keyName);
  if (key === undefined || key.algorithm !== tsig.algorithm) return failed(tsigErrors.badKey);
  const full = macLength(key.algorithm);
  if (tsig.mac.length > full || tsig.mac.length < Math.max(10, full / 2)) return { kind: "malformed" };
  const mac = computeMac(key, [message, variables(tsig)]);
  if (!timingSafeEqual(mac.subarray(0, tsig.mac.length), tsig.mac)) return failed(tsigErrors.badSig);
  const clock = Math.floor(now() / 1000);
  if (isOutOfTime(tsig, clock)) {
    return { kind: "failed", message, sign: (m) => sent(signedLate(m, tsig, key, clock)) };
  }
  if (tsig.mac.length !== full) return failed(tsigErrors.badTrunc);
  const sign = createSigner(key, tsig.mac, now);
  const signature = mac.toString("base64");
  return { kind: "signed", key, message, signature, sign: (m) => sent(sign(m)) };
}

/** The signature of the first message covers all fields of the TSIG record, later ones only its timers (section 5.3.1). */
function createSigner(key: TsigKey, requestMac: Uint8Array, now: () => Instant): Signer {
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
