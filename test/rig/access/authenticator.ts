import { createSign, generateKeyPairSync, hash, type KeyObject, randomBytes } from "node:crypto";

/**
 * A device with passkeys, in software (WebAuthn, section 6): it signs as a phone would, and, if the test says so, as
 * one that lies or does not check its user.
 */
export type Authenticator = {
  readonly create: (options: CreateOptions, how?: How) => object;
  readonly get: (options: { readonly challenge: string; readonly rpId?: string }, how?: How) => object;
};

type CreateOptions = { readonly challenge: string; readonly rp: { readonly id?: string } };

/** What differs from an honest device on the right page. */
type How = { readonly origin?: string; readonly site?: string; readonly unverified?: boolean };

export function createAuthenticator(origin: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(32);
  let counter = 0;
  const dataFor = (site: string, { unverified = false }: How, isNew: boolean) => {
    const flags = 0x01 | (unverified ? 0 : 0x04) | (isNew ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE((counter += 1));
    const added = isNew ? [Buffer.alloc(16), Buffer.from([0, id.length]), id, coseOf(publicKey)] : [];
    return Buffer.concat([hash("sha256", site, "buffer"), Buffer.from([flags]), count, ...added]);
  };
  const clientData = (type: string, challenge: string, how: How) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: how.origin ?? origin, crossOrigin: false }));
  const wrapped = (response: Readonly<Record<string, Buffer>>) => ({
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
    response: Object.fromEntries(Object.entries(response).map(([name, bytes]) => [name, bytes.toString("base64url")])),
  });
  return {
    create: ({ challenge, rp }, how = {}) => {
      const clientDataJSON = clientData("webauthn.create", challenge, how);
      return wrapped({ clientDataJSON, attestationObject: attestation(dataFor(how.site ?? rp.id ?? "", how, true)) });
    },
    get: ({ challenge, rpId = "" }, how = {}) => {
      const clientDataJSON = clientData("webauthn.get", challenge, how);
      const authenticatorData = dataFor(how.site ?? rpId, how, false);
      const signed = Buffer.concat([authenticatorData, hash("sha256", clientDataJSON, "buffer")]);
      return wrapped({
        clientDataJSON,
        authenticatorData,
        signature: createSign("sha256").update(signed).sign(privateKey),
      });
    },
  };
}

/** The key as COSE in CBOR: EC2, ES256, P-256, x, y (RFC 9053, 2.1 and 7.1). */
function coseOf(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const [head, middle] = [Buffer.from("a5010203262001215820", "hex"), Buffer.from("225820", "hex")];
  return Buffer.concat([head, Buffer.from(x, "base64url"), middle, Buffer.from(y, "base64url")]);
}

/** In CBOR: `{ fmt: "none", attStmt: {}, authData }`. */
function attestation(data: Buffer): Buffer {
  const head = Buffer.from(`a363${hex("fmt")}64${hex("none")}67${hex("attStmt")}a068${hex("authData")}58`, "hex");
  return Buffer.concat([head, Buffer.from([data.length]), data]);
}

const hex = (text: string): string => Buffer.from(text).toString("hex");
