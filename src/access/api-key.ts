import { randomBytes } from "node:crypto";
import { hashSecret, sameHash } from "./secret.ts";

/** A key or a secret as OPNsense makes them: 60 random bytes in base64, so 80 characters and no padding. */
export const createApiKeyPart = (): string => randomBytes(60).toString("base64");

/** `sha256$salt$hash`: the method stands in front, so that a later one can be told apart. */
export function hashWithSalt(secret: string, salt: string = randomBytes(16).toString("base64url")): string {
  return `sha256$${salt}$${hashSecret(`${salt}:${secret}`)}`;
}

/** Without a stored hash the work is the same, and the answer no. */
export function matchesSaltedHash(secret: string, stored: string | undefined): boolean {
  const [, salt = ""] = (stored ?? "sha256$none$none").split("$");
  return sameHash(hashWithSalt(secret, salt), stored ?? "") && stored !== undefined;
}
