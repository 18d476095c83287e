import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** 32 characters carry 190 bits: enough that a single round of SHA-256 cannot be brute-forced. */
export function createToken(length = 32): string {
  return Array.from({ length }, () => lettersAndDigits[randomInt(lettersAndDigits.length)]).join("");
}

/** For secrets that moor generated (190 random bits and more); a password that a person chose needs a slow hash. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "base64url");

export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A key or a secret as OPNsense generates them: 60 random bytes in base64, so 80 characters and no padding. */
export const createApiKeyPart = (): string => randomBytes(60).toString("base64");

/** `sha256$salt$hash`: the method comes first, so that a later one can be distinguished. */
export function hashWithSalt(secret: string, salt: string = randomBytes(16).toString("base64url")): string {
  return `sha256$${salt}$${hashSecret(`${salt}:${secret}`)}`;
}

/** Without a stored hash it does the same work and returns false. */
export function matchesSaltedHash(secret: string, stored: string | undefined): boolean {
  const [, salt = ""] = (stored ?? "sha256$none$none").split("$");
  return sameHash(hashWithSalt(secret, salt), stored ?? "") && stored !== undefined;
}
