import { createHmac } from "node:crypto";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { hashSecret } from "../secret.ts";
import type { Visit } from "../visit.ts";
import type { Passkey } from "./passkey-store.ts";

/**
 * Where the page is. `site` is its host name (the RP ID of WebAuthn), which browsers compare with the passkey's; `host`
 * has the port too.
 */
export type PasskeyPage = { readonly origin: string; readonly site: string; readonly host: string };

/** The library is loaded when the first passkey is used. */
const library = () => import("@simplewebauthn/server");

/** EdDSA, ES256 and RS256 (RFC 9053): what all devices can do. By default, the library also tries experimental ones. */
const algorithms = [-8, -7, -257];

/**
 * What a device signs: a MAC of the visit. Only this service can make it, so a caller with a visit of its own making
 * cannot know the challenge before; another purpose has another one.
 */
export const challengeOf = (purpose: "register" | "sign-in", { secret }: Visit, key: string): string =>
  createHmac("sha256", key).update(`passkey ${purpose}:${secret}`).digest("base64url");

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));

/** For `navigator.credentials.create`. A passkey replaces the password, so the device must check who uses it. */
export async function creationOptions(
  page: PasskeyPage,
  challenge: string,
  user: { readonly handle: string; readonly name: string; readonly existingPasskeys: readonly Passkey[] },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: "moor",
    rpID: page.site,
    userID: bytesOf(hashSecret(`passkey user:${user.handle}`)),
    userName: user.name,
    userDisplayName: user.name,
    challenge: bytesOf(challenge),
    excludeCredentials: user.existingPasskeys.map(({ id }) => ({ id })),
    supportedAlgorithmIDs: algorithms,
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

export type NewPasskey = Pick<Passkey, "id" | "publicKey" | "counter">;

/** Undefined if it does not prove what it must. */
export async function readRegistration(
  response: unknown,
  { origin, site }: PasskeyPage,
  challenge: string,
): Promise<NewPasskey | undefined> {
  const { verifyRegistrationResponse } = await library();
  const checked = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: site,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined);
  if (!checked?.verified) return undefined;
  const { id, publicKey, counter } = checked.registrationInfo.credential;
  return { id, publicKey: Buffer.from(publicKey).toString("base64url"), counter };
}

/** For `navigator.credentials.get`. Names no passkey, so that nobody learns which exist: the browser offers its own. */
export async function requestOptions(
  { site: rpID }: PasskeyPage,
  challenge: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({ rpID, challenge: bytesOf(challenge), userVerification: "required" });
}

/** The new counter of the passkey; undefined if the response does not prove that its device signed the challenge. */
export async function readAssertion(
  response: unknown,
  { origin, site }: PasskeyPage,
  challenge: string,
  passkey: Passkey,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await library();
  const { id, publicKey, counter } = passkey;
  const checked = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: site,
    requireUserVerification: true,
    credential: { id, publicKey: bytesOf(publicKey), counter },
  }).catch(() => undefined);
  return checked?.verified ? checked.authenticationInfo.newCounter : undefined;
}
