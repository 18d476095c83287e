import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Logger } from "../log.ts";
import { belongTogether, caFileIn, ensureCertificate, type PairName } from "./certificates.ts";
import type { Pair } from "./issue-certificate.ts";

/** The certificate a server shows, and its successors: nothing has to be restarted for them. */
export type TlsMaterial = {
  readonly pair: Pair;
  /** What clients must trust; not there when the operator brings the certificate. */
  readonly caFile?: string;
  /** Hands over every new pair: `follow((pair) => showPair(server, pair))`. */
  readonly follow: (use: (pair: Pair) => void) => void;
  /** Why the certificate that is shown is no good at this time; undefined when it is. */
  readonly trouble: () => string | undefined;
  readonly close: () => void;
};

export type TlsOptions = {
  readonly folder: string;
  readonly pairName: PairName;
  /** Asked again each time: a machine's addresses change. */
  readonly names: () => readonly string[];
  /** The operator's own certificate and key, instead of one from the private authority. */
  readonly files?: CertificateFiles;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Milliseconds between two looks at the files and names. */
  readonly every?: number;
};

export type CertificateFiles = { readonly cert: string; readonly key: string };

/** A new address waits no longer for a certificate that names it. A look costs two milliseconds of CPU. */
const minute = 60_000;
const tenSeconds = 10_000;

const outsideAuthority =
  "the certificate does not have these names, as the private authority was made for other domains; give a certificate for them with " +
  "--cert, or remove ca.key and ca.pem, start again and have every client trust the new authority";

/** `ca`: of our own authority. In a chain that is not ours an old one may stand for old clients. */
type Loaded = Pair & { readonly ca?: string };

export async function openTlsMaterial(options: TlsOptions): Promise<TlsMaterial> {
  const { folder, pairName, names, files, now = () => new Date() } = options;
  let warnedOf = "";
  const load = async (): Promise<Loaded> => {
    if (files !== undefined) return await readFiles(files);
    const { cert, key, ca, uncovered } = await ensureCertificate(folder, names(), now(), pairName);
    if (uncovered.length > 0 && warnedOf !== uncovered.join()) options.log.warn({ names: uncovered }, outsideAuthority);
    warnedOf = uncovered.join();
    // The authority is shown too, for clients to get to know: it stays when this certificate is made anew.
    return { cert: `${cert.trimEnd()}\n${ca}`, key, ca };
  };
  const first = await load();
  const watch = createWatch(load, first, options);
  return {
    pair: { cert: first.cert, key: first.key },
    ...(files === undefined && { caFile: caFileIn(folder) }),
    follow: watch.start,
    trouble: watch.unfit,
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

  const look = async (use: (pair: Pair) => void) => {
    try {
      const found = await load();
      if (found.cert !== shown.cert || found.key !== shown.key) {
        use({ cert: found.cert, key: found.key });
        shown = found;
        log.info("a new certificate is in use");
      }
      failure = "";
    } catch (error) {
      const { message } = error as Error;
      if (message !== failure) log.warn({ err: error }, "the new certificate cannot be used; the old one stays");
      failure = message;
    }
    warnIfUnfit();
  };

  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const start = (use: (pair: Pair) => void) => {
    const lookLater = () => {
      timer = setTimeout(() => void lookAndGoOn(), every).unref();
    };
    const lookAndGoOn = async () => {
      await look(use);
      if (timer !== undefined) lookLater();
    };
    stop();
    lookLater();
  };
  return { start, stop, unfit };
}

function unfitness({ cert, ca }: Loaded, now: Date): string | undefined {
  const faults = [outside("the certificate", cert, now)];
  const above = ca === undefined ? undefined : outside("the private authority", ca, now);
  if (above !== undefined) faults.push(above, newAuthority);
  return faults.filter((fault) => fault !== undefined).join("; ") || undefined;
}

/** Of several in one text it is the first. */
function outside(what: string, pem: string, now: Date): string | undefined {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  if (now < validFromDate) return `${what} is not valid before ${validFromDate.toISOString()}`;
  return now > validToDate ? `${what} has ended on ${validToDate.toISOString()}` : undefined;
}

const newAuthority =
  "if the clock is right, remove ca.key and ca.pem, start again, and have every client trust the one that is then made";

async function readFiles({ cert, key }: CertificateFiles): Promise<Pair> {
  const pair = { cert: await readPem(cert), key: await readPem(key) };
  expectReadable(
    () => createSecureContext({ cert: pair.cert }),
    `${cert} holds no certificate that can be read`,
    "--cert names the certificate, with its chain behind it",
  );
  if (locked.test(pair.key)) throw new Error(`${key} is locked with a passphrase; give one without`);
  expectReadable(
    () => createPrivateKey(pair.key),
    `${key} holds no key that can be read`,
    "--key names the key of the certificate",
  );
  if (!belongTogether(pair)) throw new Error(`${key} is not the key of the certificate in ${cert}`);
  return pair;
}

/** As keys are locked today, and as old programs lock them. */
const locked = /^(?:-----BEGIN |Proc-Type: *4, *)ENCRYPTED/m;

/** What OpenSSL says names neither the file nor what is wrong with it. */
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
    throw new Error(`${why}; --cert and --key name PEM files that this user may read`, { cause: error });
  });
  if (!text.includes("-----BEGIN ")) throw new Error(`${file} is no PEM file: there is no -----BEGIN in it`);
  return text;
}
