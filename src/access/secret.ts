import { hash, randomInt, timingSafeEqual } from "node:crypto";

const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** 32 characters carry 190 bits: enough that one round of SHA-256 at rest cannot be searched through. */
export function createToken(length = 32): string {
  return Array.from({ length }, () => lettersAndDigits[randomInt(lettersAndDigits.length)]).join("");
}

/** For secrets that moor made itself (190 random bits and more); a password that a person chose needs a slow hash. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "base64url");

export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
