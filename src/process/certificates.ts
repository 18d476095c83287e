import { X509Certificate } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { parseAddress } from "../core/address.ts";
import { readFileIfThere, replaceFile } from "./data-folder.ts";
import type { Pair } from "./issue-certificate.ts";

export type ServerCertificate = Pair & {
  /** The authority's certificate, PEM: what clients import. */
  readonly ca: string;
  readonly caFile: string;
};

const day = 24 * 60 * 60 * 1000;

/**
 * The private authority in `folder` and a server certificate from it: made when missing, made again when the server
 * certificate ends within 30 days or does not name one of `names`. The authority is never replaced: clients imported it.
 */
export async function ensureCertificate(
  folder: string,
  names: readonly string[],
  now: Date,
): Promise<ServerCertificate> {
  const authority = (await readPair(folder, "ca")) ?? (await makeAuthority(folder, now));
  const wanted = [...new Set(["localhost", "127.0.0.1", "::1", hostname(), ...names])];
  const present = await readPair(folder, "server");
  const server =
    present && stillGood(present.cert, wanted, authority.cert, now)
      ? present
      : await makeServerPair(folder, authority, wanted, now);
  return { ...server, ca: authority.cert, caFile: join(folder, "ca.pem") };
}

// The library behind issue-certificate is large and needed once a year, so it is loaded on use.
async function makeAuthority(folder: string, now: Date): Promise<Pair> {
  const { issueAuthority } = await import("./issue-certificate.ts");
  return await savePair(folder, "ca", await issueAuthority(now));
}

async function makeServerPair(folder: string, authority: Pair, names: readonly string[], now: Date): Promise<Pair> {
  const { issueServerCertificate } = await import("./issue-certificate.ts");
  return await savePair(folder, "server", await issueServerCertificate(authority, names, now));
}

function stillGood(cert: string, names: readonly string[], ca: string, now: Date): boolean {
  const certificate = new X509Certificate(cert);
  const covers = (name: string) => (parseAddress(name) ? certificate.checkIP(name) : certificate.checkHost(name));
  return (
    certificate.validToDate.getTime() - now.getTime() > 30 * day &&
    certificate.verify(new X509Certificate(ca).publicKey) &&
    names.every((name) => covers(name) !== undefined)
  );
}

async function readPair(folder: string, name: string): Promise<Pair | undefined> {
  const [cert, key] = await Promise.all([
    readFileIfThere(join(folder, `${name}.pem`)),
    readFileIfThere(join(folder, `${name}.key`)),
  ]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

async function savePair(folder: string, name: string, pair: Pair): Promise<Pair> {
  await replaceFile(join(folder, `${name}.key`), pair.key, 0o600);
  await replaceFile(join(folder, `${name}.pem`), pair.cert, 0o644);
  return pair;
}
