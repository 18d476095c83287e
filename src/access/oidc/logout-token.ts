import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import type { Instant } from "../../core/instant.ts";
import { isObject, objectOfJson } from "../../core/is-object.ts";
import type { ProviderSession } from "../session.ts";

export type LogoutTokenChecks = {
  readonly issuer: string;
  readonly client: string;
  /** The provider's keys, which it publishes as a JSON Web Key Set. */
  readonly keys: () => Promise<readonly object[]>;
  /** False if this token was used before. */
  readonly isNew: (id: string) => boolean;
  readonly now: Instant;
};

/** Milliseconds that a token may be old, or that the provider's clock may be ahead. */
const longest = 5 * 60_000;

const event = "http://schemas.openid.net/event/backchannel-logout";

/** Checks a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). Returns what is wrong as a text. */
export async function readLogoutToken(token: string, checks: LogoutTokenChecks): Promise<ProviderSession | string> {
  const [head = "", body = "", signature, ...more] = token.split(".");
  if (signature === undefined || more.length > 0) return "it is no signed token";
  const [header, claims] = [partOf(head), partOf(body)];
  if (header === undefined || claims === undefined) return "it is no signed token";
  const way = ways[String(header.alg)];
  if (way === undefined) return "its algorithm is not supported";
  const fitting = (await checks.keys()).filter((key) => isFor(key, header));
  const isSigned = fitting.some((key) => isSignedBy(key, way, `${head}.${body}`, Buffer.from(signature, "base64url")));
  if (!isSigned) return "it is not signed by the provider";
  return faultOf(claims, checks) ?? { subject: textOf(claims.sub), sid: textOf(claims.sid) };
}

type Part = Readonly<Record<string, unknown>>;

function faultOf(claims: Part, { issuer, client, isNew, now }: LogoutTokenChecks): string | undefined {
  const { iss, aud, iat, exp, jti, events, nonce, sub, sid } = claims;
  if (iss !== issuer) return "it is from another issuer";
  if (![aud].flat().includes(client)) return "it is for another client";
  if (typeof iat !== "number" || Math.abs(now - iat * 1_000) > longest) return "it is too old, or the clocks differ";
  if (typeof exp === "number" && now > exp * 1_000 + longest) return "it has expired";
  if (!isObject(events) || !isObject(events[event])) return "it is no logout token";
  if (nonce !== undefined) return "it is an ID token";
  if (textOf(sub) === undefined && textOf(sid) === undefined) return "it names neither a user nor a session";
  if (typeof jti !== "string" || !isNew(jti)) return "it was used before";
  return undefined;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const partOf = (text: string): Part | undefined => objectOfJson(Buffer.from(text, "base64url").toString("utf8"));

/** The algorithms of RFC 7518 and RFC 8037 with a key pair: neither `none` nor those with the client's secret. */
type Way = { readonly digest: string | null; readonly kind: string; readonly options: object };

const rsa = (digest: string): Way => ({ digest, kind: "RSA", options: {} });
const pss = (digest: string, saltLength: number): Way => ({ digest, kind: "RSA", options: { padding: 6, saltLength } });
const ecdsa = (digest: string): Way => ({ digest, kind: "EC", options: { dsaEncoding: "ieee-p1363" } });
const ways: Readonly<Record<string, Way>> = {
  RS256: rsa("sha256"),
  RS384: rsa("sha384"),
  RS512: rsa("sha512"),
  PS256: pss("sha256", 32),
  PS384: pss("sha384", 48),
  PS512: pss("sha512", 64),
  ES256: ecdsa("sha256"),
  ES384: ecdsa("sha384"),
  ES512: ecdsa("sha512"),
  EdDSA: { digest: null, kind: "OKP", options: {} },
};

const isFor = (key: object, { kid, alg }: Part): boolean => {
  const its = key as Part;
  return (kid === undefined || its.kid === kid) && (its.alg ?? alg) === alg && (its.use ?? "sig") === "sig";
};

function isSignedBy(key: object, { digest, kind, options }: Way, text: string, signature: Buffer): boolean {
  if ((key as Part).kty !== kind) return false;
  try {
    const publicKey = createPublicKey({ key: key as JsonWebKey, format: "jwk" });
    return verify(digest, Buffer.from(text), { key: publicKey, ...options }, signature);
  } catch {
    return false;
  }
}
