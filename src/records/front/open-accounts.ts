import { parseServer } from "../../core/addresses/server-address.ts";
import type { Instant } from "../../core/instant.ts";
import { parseKeyFile } from "../../lib/dns/tsig.ts";
import { Budget } from "../../providers/budget.ts";
import { openProvider, type ProviderConfig } from "../../providers/open-provider.ts";
import type { Provider } from "../../providers/provider.ts";
import type { StoredProvider } from "../model.ts";
import type { Signer } from "../signing/signer.ts";

export type ProviderKind = ProviderConfig["kind"];

/** Where a kind is, if there is only one such service. */
export const usualUrls: Readonly<Partial<Record<ProviderKind, string>>> = {
  cloudflare: "https://api.cloudflare.com",
  desec: "https://desec.io",
  hetzner: "https://api.hetzner.cloud",
  "hetzner-v1": "https://dns.hetzner.com",
};

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
