import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate as X509,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { parseAddress } from "../../core/addresses/address.ts";
import { nameConstraintsOid, writeNameConstraints } from "./name-constraints.ts";

/** PEM texts. */
export type Pair = { readonly cert: string; readonly key: string };

const day = 24 * 60 * 60 * 1000;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/**
 * A machine without a battery-backed clock starts in 1970; an authority from then would have expired once the time is
 * known.
 */
const clockBegins = Date.UTC(2026, 10);

/**
 * A self-signed authority, valid for twenty years, only for TLS servers, and only for the permitted names and names
 * below them. The name constraints are not marked as critical: mbedTLS, which OpenWrt's clients use, would refuse the
 * authority.
 */
export async function issueAuthority(now: Date, permitted: readonly string[] | undefined): Promise<Pair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: randomBytes(16).toString("hex"),
    name: `CN=moor private CA ${randomBytes(3).toString("hex")}`,
    notBefore: new Date(now.getTime() - day),
    notAfter: new Date(Math.max(now.getTime(), clockBegins) + 20 * 365 * day),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      ...(permitted ? [new Extension(nameConstraintsOid, false, writeNameConstraints(permitted))] : []),
      // RFC 5280 sections 4.2.1.1 and 4.2.1.2: Python since 3.13 trusts no chain without the two key identifiers.
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return await asPem(certificate, keys.privateKey);
}

/** A certificate for a TLS server that answers to `names` (host names and addresses). */
export async function issueServerCertificate(authority: Pair, names: readonly string[], now: Date): Promise<Pair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const signingKey = await webcrypto.subtle.importKey(
    "pkcs8",
    PemConverter.decodeFirst(authority.key),
    algorithm,
    false,
    ["sign"],
  );
  const issuer = new X509(authority.cert);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomBytes(16).toString("hex"),
    subject: "CN=moor",
    issuer: issuer.subject,
    // 397 days is the most that browsers and Apple's systems accept.
    notBefore: new Date(now.getTime() - day),
    notAfter: new Date(now.getTime() + 396 * day),
    publicKey: keys.publicKey,
    signingKey: signingKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        names.map((name) => ({ type: parseAddress(name) ? ("ip" as const) : ("dns" as const), value: name })),
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return await asPem(certificate, keys.privateKey);
}

async function asPem(certificate: X509, privateKey: webcrypto.CryptoKey): Promise<Pair> {
  const key = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY");
  return { cert: `${certificate.toString("pem")}\n`, key: `${key}\n` };
}
