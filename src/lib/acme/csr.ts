import "reflect-metadata";
import { createPrivateKey, webcrypto } from "node:crypto";
import { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A certificate signing request for these names, with a key from `createKey`; DER, base64url. */
export async function requestCertificate(names: readonly string[], keyPem: string): Promise<string> {
  const jwk = createPrivateKey(keyPem).export({ format: "jwk" }) as webcrypto.JsonWebKey;
  const { d: _, ...open } = jwk;
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys: {
      privateKey: await webcrypto.subtle.importKey("jwk", jwk, algorithm, false, ["sign"]),
      publicKey: await webcrypto.subtle.importKey("jwk", open, algorithm, true, ["verify"]),
    },
    signingAlgorithm: algorithm,
    extensions: [new SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns", value })))],
  });
  return Buffer.from(request.rawData).toString("base64url");
}
