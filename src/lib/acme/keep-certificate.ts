import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { type EndWork, runPeriodically } from "../../process/duties.ts";
import type { Logger } from "../../process/log.ts";
import { handshake } from "../http/page-server.ts";
import { outside } from "../tls/material.ts";
import { AcmeFailure } from "./failure.ts";
import { type KeepOptions, obtainCertificate } from "./obtain-certificate.ts";
import { remainingWait, untilOrder, waitAfter } from "./plan.ts";
import { issuedOf, parseSaved, type Saved } from "./saved.ts";

/**
 * A certificate from an ACME authority, for the names in it; for all other names the server's own certificate is used.
 */
export type AcmeCertificate = {
  readonly names: readonly string[];
  /** For Node's TLS server. A renewed certificate is used from the next connection on. */
  readonly SNICallback: (name: string, use: (error: Error | null, context?: SecureContext) => void) => void;
  /** Why the certificate is not valid now; undefined when it is valid or there is none yet. */
  readonly trouble: () => string | undefined;
  readonly expires: () => Date | undefined;
  /** Failed attempts since the last certificate. */
  readonly failures: () => number;
  /** Orders and renews the certificate. One node does this for all nodes: pass it to `Duties.whenLeading`. */
  readonly lead: () => EndWork;
  readonly close: () => void;
};

const minute = 60_000;

export async function openAcmeCertificate(options: KeepOptions): Promise<AcmeCertificate> {
  const { saved: text, log, every = minute, now = () => new Date() } = options;
  let shown: { readonly cert: string; readonly leaf: X509Certificate; readonly context: SecureContext } | undefined;
  const progress = { failures: 0 };

  const show = (saved: Saved) => {
    const { certificate } = saved;
    // A certificate that cannot be used is ordered again.
    if (certificate === undefined || certificate.cert === shown?.cert || issuedOf(saved) === undefined) return;
    const { cert, key, names } = certificate;
    const context = createSecureContext({ cert, key, minVersion: handshake.minVersion });
    shown = { cert, leaf: new X509Certificate(cert), context };
    log.info({ names, until: shown.leaf.validToDate.toISOString() }, "the ACME certificate is in use");
  };
  const showSaved = async () => {
    const saved = parseSaved(await text.read(), text.where);
    show(saved);
    return saved;
  };
  await showSaved();

  const endLooking = repeatLogged(() => showSaved().then(() => undefined), every, log);
  return {
    names: options.names,
    SNICallback: (name, use) => use(null, shown?.leaf.checkHost(name) ? shown.context : undefined),
    trouble: () => shown && outside("the certificate from the ACME authority", shown.cert, now()),
    expires: () => shown?.leaf.validToDate,
    failures: () => progress.failures,
    lead: () => {
      let step: (() => Promise<number>) | undefined;
      const orderOnce = (signal: AbortSignal) => {
        step ??= createOrdering(options, showSaved, progress, signal);
        return step();
      };
      return repeatLogged(orderOnce, every, log);
    },
    close: () => void endLooking(),
  };
}

/**
 * Checks the clock often instead of sleeping for weeks: it may be corrected meanwhile. A failure that repeats is logged
 * once.
 */
function repeatLogged(
  step: (signal: AbortSignal) => Promise<number | undefined>,
  every: number,
  log: Logger,
): () => Promise<void> {
  let failure = "";
  const work = async (signal: AbortSignal) => {
    const sooner = await step(signal);
    failure = "";
    return sooner;
  };
  return runPeriodically(work, every, (error) => {
    const { message } = error as Error;
    if (message !== failure) log.warn({ err: error }, "the saved ACME certificate cannot be read or written");
    failure = message;
  });
}

function createOrdering(
  options: KeepOptions,
  look: () => Promise<Saved>,
  progress: { failures: number },
  signal: AbortSignal,
): () => Promise<number> {
  const { log, random = Math.random, now = () => new Date() } = options;
  let validity: { readonly from: number; readonly until: number } | undefined;

  const hold = (failure: AcmeFailure, validTo: Date | undefined) => {
    progress.failures += 1;
    const from = now().getTime();
    validity = { from, until: from + waitAfter(failure, progress.failures, random()) };
    log.warn(
      {
        because: failure.message,
        "next attempt": new Date(validity.until).toISOString(),
        ...(validTo && { "valid until": validTo.toISOString() }),
      },
      validTo
        ? "the ACME certificate could not be renewed; the old one stays in use"
        : "no ACME certificate could be obtained yet",
    );
  };

  return async () => {
    const before = await look();
    const time = now();
    // A wait that was set while the clock was ahead ends when the clock is corrected.
    if (validity && time.getTime() >= validity.from && time.getTime() < validity.until)
      return validity.until - time.getTime();
    validity = undefined;
    let issued = issuedOf(before);
    const wait = Math.max(untilOrder(issued, options, time), remainingWait(before, options.directory, time));
    if (wait > 0) return wait;
    try {
      issued = await obtainCertificate(options, signal);
      await look();
      if (untilOrder(issued, options, time) === 0) throw new AcmeFailure("refused", clockAhead(issued.validTo));
      progress.failures = 0;
    } catch (error) {
      if (signal.aborted) return 0;
      hold(asFailure(error), issued?.validTo);
    }
    return 0;
  };
}

/** Any other error comes from our own side, such as the database. */
const asFailure = (error: unknown): AcmeFailure =>
  error instanceof AcmeFailure ? error : new AcmeFailure("unavailable", (error as Error).message, { cause: error });

const clockAhead = (validTo: Date): string =>
  `by the clock of this machine, the new certificate (valid until ${validTo.toISOString()}) is already due for renewal; correct the clock`;
