import { describe, expect, it } from "vitest";
import { type Claims, claimsOfBoth, grantFor, type OidcRule } from "./rules.ts";

const rule = (claim: string, value: string, account = claim): OidcRule => ({ claim, value, account, role: "full" });

const fits: [what: string, rule: OidcRule, claims: Claims][] = [
  ["a value in a list", rule("groups", "admins"), { groups: ["family", "admins"] }],
  ["a single value", rule("preferred_username", "anna"), { preferred_username: "anna" }],
  ["a claim inside another", rule("realm_access.roles", "dns"), { realm_access: { roles: ["dns"] } }],
  ["a claim whose name has dots", rule("https://example.org/roles", "dns"), { "https://example.org/roles": ["dns"] }],
  ["an address that was verified", rule("email", "a@b.example"), { email: "a@b.example", email_verified: true }],
];

const fails: [what: string, rule: OidcRule, claims: Claims][] = [
  ["another value", rule("groups", "admins"), { groups: ["admins2", "Admins"] }],
  ["a part of the text", rule("groups", "admins"), { groups: "no admins" }],
  ["no such claim", rule("groups", "admins"), {}],
  ["a value that is no text", rule("groups", "1"), { groups: [1, true, null] }],
  ["what every object has", rule("constructor.name", "Object"), {}],
  ["an address that was not verified", rule("email", "a@b.example"), { email: "a@b.example", email_verified: false }],
  ["an address of which that is unknown", rule("email", "a@b.example"), { email: "a@b.example" }],
  ["an address verified in words", rule("email", "a@b.example"), { email: "a@b.example", email_verified: "true" }],
];

describe("a rule for users of an identity provider", () => {
  it.each(fits)("fits %s", (_, one, claims) => expect(grantFor([one], claims)).toBe(one));
  it.each(fails)("does not fit %s", (_, one, claims) => expect(grantFor([one], claims)).toBeUndefined());

  it("counts if it is the first that fits", () => {
    const rules = [rule("groups", "a", "first"), rule("groups", "b", "second"), rule("groups", "c", "third")];
    expect(grantFor(rules, { groups: ["c", "b"] })?.account).toBe("second");
  });

  it.each<[string, Claims, Claims, boolean]>([
    ["both are in userinfo", {}, { email: "a@b.example", email_verified: true }, true],
    ["both are in the ID token", { email: "a@b.example", email_verified: true }, {}, true],
    ["only the ID token says so of another", { email_verified: true }, { email: "a@b.example" }, false],
    ["only userinfo says so of another", { email: "a@b.example" }, { email_verified: true }, false],
  ])("takes an address and whether it was verified from one document: %s", (_, idToken, userInfo, isAllowed) => {
    const one = rule("email", "a@b.example");
    expect(grantFor([one], claimsOfBoth(idToken, userInfo))).toBe(isAllowed ? one : undefined);
  });
});
