import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isOnCurve } from "./curve-point.ts";
import { mergeMultiSignerKeys, readDnskeys } from "./multi-signer-keys.ts";

const p256 = "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
/** RFC 8080 section 6.1. */
const ed25519 = "l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=";

describe("the owner of a DNSKEY record", () => {
  it.each([
    [`257 3 13 ${p256}`, true],
    [`example.org. 3600 IN DNSKEY 257 3 13 ${p256}`, true],
    [`EXAMPLE.org IN DNSKEY 257 3 13 ${p256}`, true],
    [`@ DNSKEY 257 3 13 ${p256}`, true],
    [` 3600 IN DNSKEY 257 3 13 ${p256}`, true],
    [`3600 IN DNSKEY 257 3 13 ${p256}`, true],
    [`example.com. 3600 IN DNSKEY 257 3 13 ${p256}`, false],
    [`www.example.org. 3600 IN DNSKEY 257 3 13 ${p256}`, false],
  ])("must be the zone, if it is given: %s", (text, isRight) => {
    const read = readDnskeys(text);
    if (!read.ok) throw new Error(read.faults[0]?.message);
    const merged = mergeMultiSignerKeys("example.org", { keys: [] }, read.value, 1);
    expect(merged.ok).toBe(isRight);
    if (merged.ok)
      expect(Object.keys(merged.value[0] ?? {}).toSorted()).toEqual([
        "added",
        "algorithm",
        "flags",
        "publicKey",
        "tag",
      ]);
  });
});

describe("a public key", () => {
  it("of a real key pair is on its curve, and most other bytes are not", () => {
    for (let i = 0; i < 20; i++) {
      const pair = generateKeyPairSync("ed25519");
      const { x = "" } = createPublicKey(pair.privateKey).export({ format: "jwk" });
      expect(isOnCurve(15, Buffer.from(x, "base64url"))).toBe(true);
    }
    const some = Array.from({ length: 40 }, (_, i) => isOnCurve(15, Buffer.alloc(32, i + 1)));
    expect(new Set(some)).toEqual(new Set([true, false]));
    expect(isOnCurve(13, Buffer.alloc(64, 7))).toBe(false);
  });

  it.each([
    [`257 3 13 ${p256}`, true],
    [`257 3 13 ${p256.replace("Goj", "Hoj")}`, false],
    [`257 3 15 ${ed25519}`, true],
    [`257 3 15 ${Buffer.alloc(32, 255).toString("base64")}`, false],
  ])("%s is accepted: %s", (text, isRight) => {
    expect(readDnskeys(text).ok).toBe(isRight);
  });
});
