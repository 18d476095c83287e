import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const [nonceLength, tagLength] = [12, 16];

/**
 * Encrypts with a secret that moor generated and does not store, such as that of a session's cookie: a copy of the
 * database is not enough to read it.
 */
export function seal(text: string, secret: string): string {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** Undefined if it was sealed with another secret, or is damaged. */
export function unseal(sealed: string, secret: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  const nonce = bytes.subarray(0, nonceLength);
  const tag = bytes.subarray(nonceLength, nonceLength + tagLength);
  if (tag.length < tagLength) return undefined;
  const decipher = createDecipheriv(algorithm, keyOf(secret), nonce, { authTagLength: tagLength }).setAuthTag(tag);
  try {
    return decipher.update(bytes.subarray(nonceLength + tagLength), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

const keyOf = (secret: string): Buffer => hash("sha256", `seal:${secret}`, "buffer");
