import type { Logger } from "../../process/log.ts";
import type { ListenAddress } from "../http/listen.ts";
import { createKey, readAccountKey } from "./account-key.ts";
import { type AcmeClient, openAcmeClient } from "./client.ts";
import { AcmeFailure } from "./failure.ts";
import { completeOrder, type Proofs } from "./order.ts";
import type { Issued } from "./plan.ts";
import { issuedOf, parseSaved, type Saved, type SavedText } from "./saved.ts";

export type AcmeOptions = {
  readonly mail: string;
  readonly directory: string;
  /** PEM certificates to trust for the directory, instead of the public ones. */
  readonly trust?: string | undefined;
  readonly names: readonly string[];
  /** Where HTTP-01 challenges are answered; the authority connects to port 80. */
  readonly http: ListenAddress;
  /** Milliseconds between two checks of the clock and of what another node has saved. */
  readonly every?: number;
};

export type KeepOptions = AcmeOptions & {
  readonly saved: SavedText;
  readonly proofs: Proofs;
  readonly log: Logger;
  readonly now?: () => Date;
  /** 0 to 1. */
  readonly random?: () => number;
};

/**
 * Orders a certificate and saves it. Progress is saved before every step that must not be repeated, so that the order
 * continues after a restart or on the next leading node.
 */
export async function obtainCertificate(options: KeepOptions, signal: AbortSignal): Promise<Issued> {
  const { saved: text, proofs, directory, names, log, now = () => new Date() } = options;
  let saved = parseSaved(await text.read(), text.where);
  const save = async (next: Saved) => {
    saved = next;
    await text.write(JSON.stringify(next));
  };
  const { accountKey = createKey() } = saved;
  if (saved.accountKey === undefined) await save({ ...saved, accountKey });
  let client: AcmeClient | undefined;
  try {
    client = await openAcmeClient({ ...options, key: readAccountKey(accountKey), now, signal });
    if (issuedOf(saved) === undefined && client.terms) log.info({ terms: client.terms }, agreed);
    const unfinished = isFor(saved.order, options) ? saved.order : undefined;
    const key = unfinished?.key ?? createKey();
    const cert = await completeOrder({
      client,
      proofs,
      names,
      signal,
      unfinished: unfinished?.url,
      begun: (url) => save({ ...saved, order: { url, directory, names, key } }),
      csr: async () => (await import("./csr.ts")).requestCertificate(names, key),
    });
    const certificate = { directory, names, cert, key };
    const issued = issuedOf({ certificate });
    if (issued === undefined) throw new AcmeFailure("refused", "the authority sent a certificate that cannot be used");
    await save({ accountKey, certificate });
    return issued;
  } catch (error) {
    if (error instanceof AcmeFailure) await save(afterFailure(saved, error, directory, now()));
    throw error;
  } finally {
    client?.close();
  }
}

/** A refused order cannot be continued, an interrupted one can. A requested wait is kept across a restart. */
function afterFailure(saved: Saved, { kind, retryAfter }: AcmeFailure, directory: string, now: Date): Saved {
  const { order, ...others } = saved;
  const wait = retryAfter !== undefined && { leaveAlone: { directory, until: now.getTime() + retryAfter } };
  return { ...others, ...(kind === "unavailable" && order && { order }), ...wait };
}

const agreed = "with --acme you agree to the terms of service of the authority";

const isFor = (order: Saved["order"], { directory, names }: KeepOptions): boolean =>
  order?.directory === directory && order.names.join() === names.join();
