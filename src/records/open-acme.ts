import type { Instant } from "../core/instant.ts";
import { serveChallenges } from "../lib/acme/http-challenge.ts";
import { type AcmeCertificate, openAcmeCertificate } from "../lib/acme/keep-certificate.ts";
import type { AcmeOptions } from "../lib/acme/obtain-certificate.ts";
import type { Logger } from "../process/log.ts";
import { type AwaitServed, acmeProofs } from "./commands/acme-proof.ts";
import type { RecordStore } from "./store/port.ts";

/** The certificate is in the database: all nodes on it serve the same one. */
const secretName = "acme";

export type RecordsAcme = AcmeOptions & { readonly awaitServed?: AwaitServed };

/** A name whose zone is here is proved over DNS, any other over HTTP. */
export const openAcme = (
  { awaitServed, ...acme }: RecordsAcme,
  store: RecordStore,
  now: () => Instant,
  log: Logger,
): Promise<AcmeCertificate> =>
  openAcmeCertificate({
    ...acme,
    saved: {
      where: `the secret ${secretName} in the database`,
      read: () => store.findSecret(secretName),
      write: (text) => store.replaceSecret(secretName, text),
    },
    proofs: { ...acmeProofs(store, now, awaitServed), serve: (answers) => serveChallenges(acme.http, answers) },
    now: () => new Date(now()),
    log,
  });
