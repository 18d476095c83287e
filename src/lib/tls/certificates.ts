import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { link, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { parseAddress } from "../../core/addresses/address.ts";
import { readFileIfThere, replaceFile } from "../../process/data-folder.ts";
import type { Pair } from "./issue-certificate.ts";
import { permits, permittedNames } from "./name-constraints.ts";

export type ServerCertificate = Pair & {
  /** The authority's certificate, PEM: what clients import. */
  readonly ca: string;
  readonly caFile: string;
  /** Names that are not in the certificate, because the authority is limited to others. */
  readonly uncovered: readonly string[];
};

/** Services that share a folder share its authority; each has its own certificate, because each has its own names. */
export type PairName = "server" | "firewall" | "updater";

const day = 24 * 60 * 60 * 1000;

/**
 * The private authority in `folder` and a server certificate from it, created if missing. The server certificate is
 * also replaced if it expires within 30 days, is not valid yet, or lacks one of `names`. The authority is never
 * replaced: clients imported it.
 */
export async function ensureCertificate(
  folder: string,
  names: readonly string[],
  now: Date,
  pairName: PairName = "server",
): Promise<ServerCertificate> {
  const authority =
    (await readAuthority(folder)) ?? (await makeAuthority(folder, now, permittedNames(names, hostname())));
  const all = [...new Set(["localhost", "127.0.0.1", "::1", hostname(), ...names])];
  const mayName = permits(authority.cert);
  // One name outside the authority's constraints would make clients reject the whole certificate.
  const [wanted, uncovered] = [all.filter(mayName), all.filter((name) => !mayName(name))];
  const present = await readPair(folder, pairName);
  const server =
    present && stillGood(present, wanted, authority.cert, now)
      ? present
      : await makeServerPair(folder, pairName, authority, wanted, now);
  return { ...server, ca: authority.cert, caFile: caFileIn(folder), uncovered };
}

/** What clients import. */
export const caFileIn = (folder: string): string => join(folder, "ca.pem");

/** Undefined when no service was ever started on this folder. */
export const readAuthorityCertificate = async (folder: string): Promise<string | undefined> =>
  (await readAuthority(folder))?.cert;

/**
 * Key and certificate are created together, in one file that only one process can create: a process that starts at the
 * same moment finds and uses it. `ca.pem` is a copy of the public half.
 */
async function makeAuthority(folder: string, now: Date, permitted: readonly string[] | undefined): Promise<Pair> {
  const { issueAuthority } = await import("./issue-certificate.ts");
  const { cert, key } = await issueAuthority(now, permitted);
  await createWhole(join(folder, "ca.key"), key + cert);
  const authority = await readAuthority(folder);
  if (authority === undefined) throw new Error(`${join(folder, "ca.key")} is not the key of ${caFileIn(folder)}`);
  return authority;
}

/** `ca.pem` is read first, because it is written last. */
async function readAuthority(folder: string): Promise<Pair | undefined> {
  const published = await readFileIfThere(caFileIn(folder));
  const key = await readFileIfThere(join(folder, "ca.key"));
  if (key === undefined && published !== undefined) throw damaged(folder, "ca.pem exists, but ca.key does not");
  if (key === undefined) return undefined;
  const within = /-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----\n/.exec(key)?.[0];
  if (within !== undefined && within !== published) await replaceFile(caFileIn(folder), within, 0o644);
  const cert = within ?? published;
  return cert === undefined ? undefined : checkAuthority(folder, { cert, key });
}

function checkAuthority(folder: string, pair: Pair): Pair {
  try {
    if (belongTogether(pair)) return pair;
  } catch {
    // Unreadable files are handled like a pair that does not match.
  }
  throw damaged(folder, "ca.key and ca.pem do not belong together");
}

const damaged = (folder: string, what: string): Error =>
  new Error(
    `the private authority in ${folder} is damaged: ${what}\n` +
      "Replace both with good copies. Or remove both, restart, and make every client trust the new authority.",
  );

/** Creates the file with all of its content or not at all, and never replaces an existing one. */
async function createWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    await replaceFile(draft, content, 0o600);
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Loads its library on use: it is large and needed once a year. */
async function makeServerPair(
  folder: string,
  pairName: PairName,
  authority: Pair,
  names: readonly string[],
  now: Date,
): Promise<Pair> {
  const { issueServerCertificate } = await import("./issue-certificate.ts");
  const pair = await issueServerCertificate(authority, names, now);
  await replaceFile(join(folder, `${pairName}.key`), pair.key, 0o600);
  await replaceFile(join(folder, `${pairName}.pem`), pair.cert, 0o644);
  return pair;
}

function stillGood(pair: Pair, names: readonly string[], ca: string, now: Date): boolean {
  try {
    const certificate = new X509Certificate(pair.cert);
    const authority = new X509Certificate(ca);
    const covers = (name: string) => (parseAddress(name) ? certificate.checkIP(name) : certificate.checkHost(name));
    return (
      certificate.validToDate.getTime() - now.getTime() > 30 * day &&
      // Issued while the clock was ahead. If even the authority is not valid yet, the clock is wrong, and a new
      // certificate would not help.
      (certificate.validFromDate <= now || now < authority.validFromDate) &&
      belongTogether(pair) &&
      certificate.verify(authority.publicKey) &&
      names.every((name) => covers(name) !== undefined)
    );
  } catch {
    // Damaged files are replaced like expired ones.
    return false;
  }
}

/** The two files are replaced one after the other; in between they do not match. */
export const belongTogether = ({ cert, key }: Pair): boolean =>
  new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));

async function readPair(folder: string, name: string): Promise<Pair | undefined> {
  const [cert, key] = await Promise.all([
    readFileIfThere(join(folder, `${name}.pem`)),
    readFileIfThere(join(folder, `${name}.key`)),
  ]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}
