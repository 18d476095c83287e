import { isObject } from "../../core/is-object.ts";
import type { SessionRole } from "../session.ts";

/** Who may sign in, as what: users with this value in this claim. */
export type OidcRule = {
  readonly claim: string;
  readonly value: string;
  /** Absent: the owner of the service. */
  readonly account?: string | undefined;
  readonly role: SessionRole;
};

export type Claims = Readonly<Record<string, unknown>>;

/**
 * The claims of an ID token and of userinfo together. An address and whether it was verified are of one document: the
 * other one may be about another address.
 */
export function claimsOfBoth(idToken: Claims, userInfo: Claims): Claims {
  const { email, email_verified: verified } = userInfo.email === undefined ? idToken : userInfo;
  return { ...idToken, ...userInfo, email, email_verified: verified };
}

/** What the first matching rule grants; undefined if none matches. */
export const grantFor = (rules: readonly OidcRule[], claims: Claims): OidcRule | undefined =>
  rules.find(({ claim, value }) => isTrusted(claim, claims) && valuesOf(claims, claim).includes(value));

/** At some providers, users choose their address freely: one that was not verified may be somebody else's. */
const isTrusted = (claim: string, { email_verified: verified }: Claims): boolean =>
  claim !== "email" || verified === true;

/** `groups`, or a path such as `realm_access.roles`; a claim whose own name has a dot comes first. */
function valuesOf(claims: Claims, claim: string): readonly unknown[] {
  const claimValue = Object.hasOwn(claims, claim)
    ? claims[claim]
    : claim.split(".").reduce(memberOf, claims as unknown);
  return Array.isArray(claimValue) ? claimValue : [claimValue];
}

/** Whether the document has the claim, with any value. */
export const hasClaim = (claims: Claims, claim: string): boolean =>
  valuesOf(claims, claim).some((value) => value !== undefined);

const memberOf = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
