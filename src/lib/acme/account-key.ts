import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/**
 * The key that identifies us to the authority (RFC 8555 section 6.2). ES256 is the only algorithm that every authority
 * must accept.
 */
export type AccountKey = {
  readonly jwk: Jwk;
  /** The key authorization for a challenge: its token and the key's thumbprint (RFC 8555 section 8.1). */
  readonly authorize: (token: string) => string;
  readonly sign: (header: object, payload: string) => string;
};

type Jwk = { readonly crv: string; readonly kty: string; readonly x: string; readonly y: string };

/** PKCS #8, PEM. */
export const createKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

export function readAccountKey(pem: string): AccountKey {
  const key = createPrivateKey(pem);
  const jwk = publicJwk(key);
  const thumbprint = sha256(JSON.stringify(jwk));
  return {
    jwk,
    authorize: (token) => `${token}.${thumbprint}`,
    sign: (header, payload) => {
      const signed = { protected: base64(JSON.stringify(header)), payload: base64(payload) };
      const input = Buffer.from(`${signed.protected}.${signed.payload}`);
      const signature = sign("sha256", input, { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
      return JSON.stringify({ ...signed, signature });
    },
  };
}

/** Members in the order that the thumbprint needs (RFC 7638 section 3.2). */
function publicJwk(key: KeyObject): Jwk {
  const { crv = "", kty = "", x = "", y = "" } = createPublicKey(key).export({ format: "jwk" });
  return { crv, kty, x, y };
}

/** The value of the TXT record for a key authorization (RFC 8555 section 8.4). */
export const txtValueOf = (authorization: string): string => sha256(authorization);

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const base64 = (text: string): string => Buffer.from(text).toString("base64url");
