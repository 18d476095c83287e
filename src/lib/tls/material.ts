import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Logger } from "../../process/log.ts";
import { belongTogether, caFileIn, ensureCertificate, type PairName } from "./certificates.ts";
import type { Pair } from "./issue-certificate.ts";

/** A server's certificate, and its renewals: they need no restart. */
export type TlsMaterial = {
  readonly pair: Pair;
  /** What clients must trust; absent when the operator provides the certificate. */
  readonly caFile?: string;
  /** Hands over every new pair: `follow((pair) => showPair(server, pair))`. */
  readonly follow: (use: (pair: Pair) => void) => void;
  /** Why the current certificate is not valid now; undefined when it is. */
  readonly trouble: () => string | undefined;
  readonly expires: () => Date;
  readonly close: () => void;
};

export type TlsOptions = {
  readonly folder: string;
  readonly pairName: PairName;
  /** Read again each time: a machine's addresses change. */
  readonly names: () => readonly string[];
  /** The operator's own certificate and key, instead of one from the private authority. */
  readonly files?: CertificateFiles;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Milliseconds between two checks of the files and names. */
  readonly every?: number;
};

export type CertificateFiles = { readonly cert: string; readonly key: string };

/**
 * How long a new address may have to wait for a certificate that includes it. A check costs two milliseconds of CPU.
 */
const minute = 60_000;
const tenSeconds = 10_000;

const outsideAuthority =
  "the certificate does not include these names, because the private authority is limited to other domains; give a certificate for them with " +
  "--cert, or remove ca.key and ca.pem, restart, and make every client trust the new authority";

/** `ca`: set only for our own authority. An operator's chain may include an expired authority for old clients. */
type Loaded = Pair & { readonly ca?: string };

export async function openTlsMaterial(options: TlsOptions): Promise<TlsMaterial> {
  const { folder, pairName, names, files, now = () => new Date() } = options;
  let warnedOf = "";
  const load = async (): Promise<Loaded> => {
    if (files !== undefined) return await readFiles(files);
    const { cert, key, ca, uncovered } = await ensureCertificate(folder, names(), now(), pairName);
    if (uncovered.length > 0 && warnedOf !== uncovered.join()) options.log.warn({ names: uncovered }, outsideAuthority);
    warnedOf = uncovered.join();
    // The authority is sent too, so that clients can learn it: it stays when this certificate is renewed.
    return { cert: `${cert.trimEnd()}\n${ca}`, key, ca };
  };
  const first = await load();
  const watch = createWatch(load, first, options);
  return {
    pair: { cert: first.cert, key: first.key },
    ...(files === undefined && { caFile: caFileIn(folder) }),
    follow: watch.start,
    trouble: watch.unfit,
    expires: watch.expires,
    close: watch.stop,
  };
}

function createWatch(load: () => Promise<Loaded>, first: Loaded, options: TlsOptions) {
  const { files, log, now = () => new Date(), every = files === undefined ? minute : tenSeconds } = options;
  let shown = first;
  let failure = "";
  let timer: NodeJS.Timeout | undefined;

  const unfit = () => unfitness(shown, now());
  let warnedOf: string | undefined;
  const warnIfUnfit = () => {
    const because = unfit();
    if (because !== undefined && because !== warnedOf) log.warn(because);
    warnedOf = because;
  };
  warnIfUnfit();

  const reload = async (use: (pair: Pair) => void) => {
    try {
      const loadedPair = await load();
      if (loadedPair.cert !== shown.cert || loadedPair.key !== shown.key) {
        use({ cert: loadedPair.cert, key: loadedPair.key });
        shown = loadedPair;
        log.info("a new certificate is in use");
      }
      failure = "";
    } catch (error) {
      const { message } = error as Error;
      if (message !== failure) log.warn({ err: error }, "the new certificate cannot be used; the old one stays in use");
      failure = message;
    }
    warnIfUnfit();
  };

  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const start = (use: (pair: Pair) => void) => {
    const readLater = () => {
      timer = setTimeout(() => void readAndRepeat(), every).unref();
    };
    const readAndRepeat = async () => {
      await reload(use);
      if (timer !== undefined) readLater();
    };
    stop();
    readLater();
  };
  return { start, stop, unfit, expires: () => new X509Certificate(shown.cert).validToDate };
}

function unfitness({ cert, ca }: Loaded, now: Date): string | undefined {
  const faults = [outside("the certificate", cert, now)];
  const above = ca === undefined ? undefined : outside("the private authority", ca, now);
  if (above !== undefined) faults.push(above, newAuthority);
  return faults.filter((fault) => fault !== undefined).join("; ") || undefined;
}

/** Why a certificate is not valid now; undefined when it is. Of several in `pem`, the first counts. */
export function outside(what: string, pem: string, now: Date): string | undefined {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  if (now < validFromDate) return `${what} is not valid before ${validFromDate.toISOString()}`;
  return now > validToDate ? `${what} expired on ${validToDate.toISOString()}` : undefined;
}

const newAuthority =
  "if the clock is right, remove ca.key and ca.pem, restart, and make every client trust the new authority";

async function readFiles({ cert, key }: CertificateFiles): Promise<Pair> {
  const pair = { cert: await readPem(cert), key: await readPem(key) };
  expectReadable(
    () => createSecureContext({ cert: pair.cert }),
    `${cert} does not contain a readable certificate`,
    "--cert takes the certificate, followed by its chain",
  );
  if (locked.test(pair.key)) throw new Error(`${key} is encrypted with a passphrase; give a key without one`);
  expectReadable(
    () => createPrivateKey(pair.key),
    `${key} does not contain a readable key`,
    "--key takes the key of the certificate",
  );
  if (!belongTogether(pair)) throw new Error(`${key} is not the key of the certificate in ${cert}`);
  return pair;
}

/** The current format of encrypted keys, and the old one. */
const locked = /^(?:-----BEGIN |Proc-Type: *4, *)ENCRYPTED/m;

/** OpenSSL's message names neither the file nor the problem. */
function expectReadable(read: () => unknown, what: string, todo: string): void {
  try {
    read();
  } catch (error) {
    throw new Error(`${what} (${(error as Error).message}); ${todo}`);
  }
}

async function readPem(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read (${error.code})`;
    throw new Error(`${why}; --cert and --key take PEM files that this user can read`, { cause: error });
  });
  if (!text.includes("-----BEGIN ")) throw new Error(`${file} is not a PEM file: it has no -----BEGIN line`);
  return text;
}
