import { type Hmac, timingSafeEqual } from "node:crypto";
import type { Instant } from "../../core/instant.ts";
import {
  appendTsig,
  computeMac,
  isOutOfTime,
  priorMac,
  readTsig,
  startMac,
  type TsigKey,
  timers,
  tsigErrors,
  tsigFudge,
  unsignedTsig,
  variables,
} from "./tsig.ts";

/**
 * Returns the message without its signature, or why it cannot be used. `verified`: the signature is right, and says
 * that ours was refused. Anything else may come from somebody in between, who knows nothing about what the server did
 * (RFC 8945 section 5.4).
 */
export type CheckReply = (
  bytes: Buffer,
) => { readonly message: Buffer } | { readonly fault: string; readonly verified?: true };

/** RFC 8945 section 5.3.1: of this many messages in a row, one must be signed. */
const mostUnsigned = 100;

export function signRequest(message: Buffer, key: TsigKey, now: Instant): { bytes: Buffer; mac: Buffer } {
  const tsig = unsignedTsig(key, message, Math.floor(now / 1000));
  const mac = computeMac(key, [message, variables(tsig)]);
  return { bytes: appendTsig(message, { ...tsig, mac }), mac };
}

/**
 * Checks the messages of one answer in order. The first must be signed; later ones may be unsigned and are then covered
 * by the next signature. `complete` says whether all messages so far are covered.
 */
export function createReplyCheck(key: TsigKey, requestMac: Uint8Array, now: () => Instant) {
  let prior = requestMac;
  let first = true;
  let uncovered: { readonly mac: Hmac; count: number } | undefined;

  const check: CheckReply = (bytes) => {
    const read = readTsig(bytes);
    if (read === "malformed") return { fault: "a message cannot be read" };
    if (read === "no-tsig") {
      if (first) return { fault: "the answer is not signed" };
      uncovered ??= { mac: startMac(key, [priorMac(prior)]), count: 0 };
      uncovered.count += 1;
      if (uncovered.count >= mostUnsigned) return { fault: "the answer is not signed" };
      uncovered.mac.update(bytes);
      return { message: bytes };
    }
    const { tsig, message } = read;
    if (tsig.error !== 0 && tsig.mac.length === 0) return { fault: refusal(tsig.error) };
    if (tsig.keyName !== key.name || tsig.algorithm !== key.algorithm)
      return { fault: "the answer is signed with another key" };
    const last = first ? variables(tsig) : timers(tsig);
    const started = uncovered?.mac ?? startMac(key, [priorMac(prior)]);
    const mac = started.update(message).update(last).digest();
    if (mac.length !== tsig.mac.length || !timingSafeEqual(mac, tsig.mac))
      return { fault: "the signature of the answer is wrong" };
    if (tsig.error !== 0) return { fault: refusal(tsig.error), verified: true };
    if (isOutOfTime(tsig, Math.floor(now() / 1000))) return { fault: clocksApart };
    prior = mac;
    first = false;
    uncovered = undefined;
    return { message };
  };
  return { check, complete: () => !first && uncovered === undefined };
}

const clocksApart = `the clocks of both sides are more than ${tsigFudge / 60} minutes apart; correct the wrong one`;

const refusals: Readonly<Record<number, string>> = {
  [tsigErrors.badSig]: "BADSIG, the key has a different secret on the other side",
  [tsigErrors.badKey]: "BADKEY, the other side has no key with that name and algorithm",
  [tsigErrors.badTime]: `BADTIME, ${clocksApart}`,
  [tsigErrors.badTrunc]: "BADTRUNC",
};

const refusal = (error: number): string => `the signature was refused: ${refusals[error] ?? `error ${error}`}`;
