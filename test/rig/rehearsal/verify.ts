import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { algorithms } from "../../../src/core/dnssec/codes.ts";
import { dsData, keyTag, signatureInput } from "../../../src/core/dnssec/records.ts";
import type { Instant } from "../../../src/core/instant.ts";
import { printLabels } from "../../../src/core/names/label.ts";
import { labelsOf } from "../../../src/core/names/name.ts";
import { nameToWire } from "../../../src/core/names/wire.ts";

/** One set of an answer, and the data of its RRSIG records. */
export type SeenSet = {
  readonly name: string;
  readonly type: number;
  readonly data: readonly Uint8Array[];
  readonly signatures: readonly Uint8Array[];
};

/**
 * Whether a key of this algorithm among `keys` (the data of DNSKEY records) has signed the set, and the signature is
 * valid now.
 */
export type IsSignedBy = (set: SeenSet, algorithm: number, keys: readonly Uint8Array[], now: Instant) => boolean;

/** It verifies each signature once with each key: only its dates depend on the clock. */
export function createVerifier(zone: string): IsSignedBy {
  const verdicts = new WeakMap<SeenSet, Map<string, boolean>>();
  const isVerified = (set: SeenSet, signature: Uint8Array, key: Uint8Array): boolean => {
    const ofSet = verdicts.get(set) ?? new Map<string, boolean>();
    verdicts.set(set, ofSet);
    const pair = `${Buffer.from(signature).toString("base64")} ${Buffer.from(key).toString("base64")}`;
    const value = ofSet.get(pair) ?? verifies(set, zone, signature, key);
    ofSet.set(pair, value);
    return value;
  };
  return (set, algorithm, keys, now) =>
    set.signatures.some((signature) => {
      if (signature[2] !== algorithm) return false;
      const { head } = partsOf(signature, zone);
      const at = now / 1000;
      if (at < head.inception || at >= head.expires) return false;
      return keys.some((key) => key[3] === algorithm && keyTag(key) === head.tag && isVerified(set, signature, key));
    });
}

/** Whether a DS record refers to this key. */
export const refersTo = (ds: Uint8Array, key: Uint8Array, zone: string): boolean =>
  Buffer.from(ds).equals(dsData(key, zone, 2, sha256));

const sha256 = (data: Uint8Array): Uint8Array => createHash("sha256").update(data).digest();

function partsOf(signature: Uint8Array, zone: string) {
  const view = new DataView(signature.buffer, signature.byteOffset, signature.byteLength);
  const head = {
    covers: view.getUint16(0),
    algorithm: signature[2] === algorithms.ed25519 ? algorithms.ed25519 : algorithms.ecdsap256,
    ttl: view.getUint32(4),
    expires: view.getUint32(8),
    inception: view.getUint32(12),
    tag: view.getUint16(16),
    zone,
  };
  return { head, labels: signature[3] ?? 0, value: signature.subarray(18 + nameToWire(zone).length) };
}

function verifies({ name, data }: SeenSet, zone: string, signature: Uint8Array, key: Uint8Array): boolean {
  const { head, labels, value } = partsOf(signature, zone);
  const all = labelsOf(name);
  // RFC 4035 section 5.3.2: if the signature has fewer labels than the name, the answer was made from a wildcard.
  const signedName = all.length > labels && all[0] !== "*" ? printLabels(["*", ...all.slice(-labels)]) : name;
  const { start, signed } = signatureInput(head, { name: signedName, data });
  if (!Buffer.from(start).equals(signature.subarray(0, start.length))) return false;
  const isEd25519 = head.algorithm === algorithms.ed25519;
  const by = isEd25519 ? publicKey(key) : { key: publicKey(key), dsaEncoding: "ieee-p1363" as const };
  return verify(isEd25519 ? null : "sha256", signed, by, value);
}

function publicKey(dnskey: Uint8Array): KeyObject {
  const bytes = Buffer.from(dnskey.subarray(4));
  const jwk =
    dnskey[3] === algorithms.ed25519
      ? { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") }
      : {
          kty: "EC",
          crv: "P-256",
          x: bytes.subarray(0, 32).toString("base64url"),
          y: bytes.subarray(32).toString("base64url"),
        };
  return createPublicKey({ key: jwk, format: "jwk" });
}
