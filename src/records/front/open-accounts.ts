import type { ProviderKind } from "../../contract/provider-kinds.ts";
import { parseServer } from "../../core/addresses/server-address.ts";
import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import type { Fault } from "../../core/result.ts";
import { parseKeyFile } from "../../lib/dns/tsig.ts";
import { isOfZone, type ServiceFault } from "../../providers/answers/service-fault.ts";
import { Budget } from "../../providers/budget.ts";
import { openProvider } from "../../providers/open-provider.ts";
import type { Provider } from "../../providers/provider.ts";
import type { StoredProvider } from "../model.ts";
import type { Signer } from "../signing/signer.ts";

/** What the token of an account is encrypted for: it cannot be used for another service. */
export const sealedFor = ({ kind, url }: Pick<StoredProvider, "kind" | "url">): string => `provider ${kind} ${url}`;

/** Why the URL or token cannot be used; undefined if they can. */
export function accountFault({ kind, url }: Pick<StoredProvider, "kind" | "url">, token: string): string | undefined {
  if (kind === "dns-update") {
    if (serverIn(url) === undefined) return "url must be dns://HOST or dns://HOST:PORT";
    return typeof parseKeyFile(token) === "string"
      ? 'token must be a TSIG key: key "name" { algorithm hmac-sha256; secret "…"; };'
      : undefined;
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return "url must begin with https:// or http://";
  return /^[\x21-\x7e]+$/.test(token) ? undefined : "token must be one word without blanks";
}

const serverIn = (url: string) => (url.startsWith("dns://") ? parseServer(url.slice("dns://".length)) : undefined);

/** Milliseconds. */
const longestTry = 30_000;

/** Why a token must not be stored: the provider refuses it, or does not answer; undefined if it works. */
export async function tokenFault(provider: Provider): Promise<Fault | undefined> {
  const signal = AbortSignal.timeout(longestTry);
  const listed = await provider.zones(signal);
  // A nameserver lists no zones, but it checks the key before the name.
  const tried = listed.kind === "unsupported" ? await provider.set("invalid", apex, "SOA", signal) : listed;
  return tried.kind === "found" || isOfZone(tried) ? undefined : readFault(provider.service, tried);
}

/** What a provider's fault means for somebody who waits for an answer. */
export function readFault(service: string, { kind, because, todo, unreached, ofService }: ServiceFault): Fault {
  const renew = `use a token of ${service} that may read and change its zones`;
  if (kind === "unauthorised") return { code: "bad-token", where: "token", message: because, todo: renew };
  if (kind !== "later") return { code: "provider-refused", where: "provider", message: because, todo };
  const isDown = unreached === true || ofService === true;
  const message = isDown ? `${service} could not be reached: ${because}` : because;
  return { code: "provider-unread", where: "provider", message, todo: "try again later; nothing was changed" };
}

/** The budgets of tokens, by the number of their account: previews and the publisher of this process share them. */
export class TokenBudgets {
  readonly #now: () => Instant;
  readonly #budgets = new Map<number, Budget>();

  constructor(now: () => Instant) {
    this.#now = forwardClock(now);
  }

  of({ id }: Pick<StoredProvider, "id">): Budget {
    const budget = this.#budgets.get(id) ?? new Budget(this.#now);
    this.#budgets.set(id, budget);
    return budget;
  }

  /** Another token has requests of its own. */
  renew(account: Pick<StoredProvider, "id">): void {
    this.of(account).renew();
  }
}

/** `token` is called for each request. */
export async function openAccount(
  { kind, url, ca }: Pick<StoredProvider, "kind" | "url" | "ca">,
  token: () => string,
  { now, budget }: { readonly now: () => Instant; readonly budget?: Budget | undefined },
): Promise<Provider> {
  if (kind === "dns-update") {
    const server = serverIn(url);
    if (server === undefined) throw new Error(`${url} is not the address of a nameserver`);
    const key = () => {
      const read = parseKeyFile(token());
      return typeof read === "string" ? undefined : read;
    };
    return await openProvider({ kind, ...server, key }, now, budget);
  }
  const trust = ca === undefined ? ({ kind: "system" } as const) : ({ kind: "ca", pem: ca } as const);
  return await openProvider(
    { kind: kind as Exclude<ProviderKind, "dns-update">, url: new URL(url), trust, token },
    now,
    budget,
  );
}

export const tokenOf = (account: StoredProvider, signer: Pick<Signer, "decryptText">): string =>
  signer.decryptText(sealedFor(account), account.sealed);

/** For what waits until a time: if the clock is set back, nothing waits for longer. */
export function forwardClock(now: () => Instant): () => Instant {
  let last = now();
  let offset = 0;
  return () => {
    const time = now();
    offset = Math.max(offset, last - time);
    last = time + offset;
    return last;
  };
}
