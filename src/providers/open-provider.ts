import { type ProviderKind, providerRow, providerRows } from "../contract/provider-kinds.ts";
import type { Instant } from "../core/instant.ts";
import type { HttpClient } from "../lib/http-client/client.ts";
import type { Endpoint } from "../lib/http-client/endpoint.ts";
import { Budget } from "./budget.ts";
import { createProvider } from "./create-provider.ts";
import type { Provider } from "./provider.ts";
import type { ProviderAccount, ProviderCalls } from "./provider-calls.ts";
import type { UpdateServer } from "./services/dns-update/ask-server.ts";

/** `token` and `key` are called for each request: a new one works without opening the provider again. */
export type ProviderConfig =
  | ({ readonly kind: HttpKind; readonly token: () => string } & Endpoint)
  | ({ readonly kind: "dns-update" } & UpdateServer);

type HttpKind = Exclude<ProviderKind, "dns-update">;

type OpenCalls = (account: ProviderAccount, client: HttpClient) => Promise<ProviderCalls>;

/** Loaded on first use: most processes need one of them, or none. */
const kinds = {
  cloudflare: async (account, client) =>
    (await import("./services/cloudflare/cloudflare.ts")).cloudflareCalls(
      { ...account, account: account.url.searchParams.get("account") ?? undefined },
      client,
    ),
  desec: async (account, client) => (await import("./services/desec.ts")).desecCalls(account, client),
  hetzner: async (account, client) =>
    (await import("./services/hetzner/rrsets.ts")).rrsetsCalls(account, client, {
      service: providerRows.hetzner.service,
    }),
  "hetzner-v1": async (account, client) =>
    (await import("./services/hetzner/v1.ts")).v1Calls(account, client, { service: providerRows.hetzner.service }),
  /** Another moor: the same API, and transactions. */
  moor: async (account, client) =>
    (await import("./services/hetzner/rrsets.ts")).rrsetsCalls(account, client, {
      service: providerRows.moor.service,
      together: true,
    }),
  "netcup-cloud": async (account, client) =>
    (await import("./services/netcup-cloud.ts")).netcupCloudCalls(account, client),
  powerdns: async (account, client) => (await import("./services/powerdns.ts")).powerdnsCalls(account, client),
} satisfies Record<HttpKind, OpenCalls>;

const usualUrl = (kind: string): string | undefined =>
  kind in providerRows ? providerRow(kind as ProviderKind).url : undefined;

/** The host of such a service is enough; older builds stored Cloudflare's and deSEC's accounts with nothing else. */
export function apiUrl(kind: string, url: URL): URL {
  const usual = new URL(url.search, usualUrl(kind) ?? url);
  return url.pathname === "/" && url.origin === usual.origin ? usual : url;
}

/** The query says which account of the service is meant. */
export const isUsualUrl = (kind: string, url: string): boolean =>
  URL.canParse(url) && apiUrl(kind, new URL(url)).href.replace(/\?.*/, "") === usualUrl(kind);

/** One per token, or with the budget of that token, which counts for all zones. */
export async function openProvider(
  config: ProviderConfig,
  now: () => Instant = Date.now,
  budget = new Budget(now),
): Promise<Provider> {
  if (config.kind === "dns-update") {
    const { updateCalls } = await import("./services/dns-update/update-calls.ts");
    return createProvider(updateCalls(config, { now }), budget);
  }
  const { createHttpClient } = await import("../lib/http-client/client.ts");
  const client = await createHttpClient({ ...config, url: apiUrl(config.kind, config.url) });
  let resent = 0;
  const counted: HttpClient = {
    ...client,
    async send(request, signal) {
      const outcome = await client.send(request, signal);
      if (outcome.kind !== "answer") return outcome;
      budget.noteAnswer(outcome.headers);
      if (outcome.resent && request.method !== "GET") resent += 1;
      return outcome;
    },
  };
  const calls: ProviderCalls = await kinds[config.kind](config, counted);
  budget.allow(calls.rules.budget);
  return createProvider(calls, budget, () => resent);
}
