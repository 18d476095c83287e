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

/** Gives the message without its signature, or says why it cannot be trusted. */
export type CheckReply = (bytes: Buffer) => { readonly message: Buffer } | { readonly fault: string };

/** RFC 8945 section 5.3.1: of so many messages in a row, one must be signed. */
const mostUnsigned = 100;

export function signRequest(message: Buffer, key: TsigKey, now: Instant): { bytes: Buffer; mac: Buffer } {
  const tsig = unsignedTsig(key, message, Math.floor(now / 1000));
  const mac = computeMac(key, [message, variables(tsig)]);
  return { bytes: appendTsig(message, { ...tsig, mac }), mac };
}

/**
 * Checks the messages of one answer in their order. The first is signed; later ones may be left unsigned and are then
 * covered by the next that is. `complete` says whether nothing is left uncovered.
 */
export function createReplyCheck(key: TsigKey, requestMac: Uint8Array, now: () => Instant) {
  let prior = requestMac;
  let first = true;
  let uncovered: { readonly mac: Hmac; count: number } | undefined;

  const check: CheckReply = (bytes) => {
    const read = readTsig(bytes);
    if (read === "malformed") return { fault: "a message that cannot be read" };
    if (read === "unsigned") {
      if (first) return { fault: "a message without a signature" };
      uncovered ??= { mac: startMac(key, [priorMac(prior)]), count: 0 };
      uncovered.count += 1;
      if (uncovered.count >= mostUnsigned) return { fault: "a message without a signature" };
      uncovered.mac.update(bytes);
      return { message: bytes };
    }
    const { tsig, message } = read;
    if (tsig.error !== 0 && tsig.mac.length === 0) return { fault: refusal(tsig.error) };
    if (tsig.keyName !== key.name || tsig.algorithm !== key.algorithm) return { fault: "signed with another key" };
    const last = first ? variables(tsig) : timers(tsig);
    const started = uncovered?.mac ?? startMac(key, [priorMac(prior)]);
    const mac = started.update(message).update(last).digest();
    if (mac.length !== tsig.mac.length || !timingSafeEqual(mac, tsig.mac)) return { fault: "a wrong signature" };
    if (tsig.error !== 0) return { fault: refusal(tsig.error) };
    if (isOutOfTime(tsig, Math.floor(now() / 1000))) return { fault: clocksApart };
    prior = mac;
    first = false;
    uncovered = undefined;
    return { message };
  };
  return { check, complete: () => !first && uncovered === undefined };
}

const clocksApart = `the clocks of both sides are more than ${tsigFudge / 60} minutes apart; put right the one that is wrong`;

const refusals: Readonly<Record<number, string>> = {
  [tsigErrors.badSig]: "BADSIG, the key has another secret there",
  [tsigErrors.badKey]: "BADKEY, it knows no key of that name and algorithm",
  [tsigErrors.badTime]: `BADTIME, ${clocksApart}`,
  [tsigErrors.badTrunc]: "BADTRUNC",
};

const refusal = (error: number): string => `the signature was refused: ${refusals[error] ?? `error ${error}`}`;
