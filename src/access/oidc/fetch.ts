import { createHttpClient, type HttpClient, type HttpRequest } from "../../lib/http-client/client.ts";
import type { HttpTrust } from "../../lib/http-client/endpoint.ts";
import { BoundedMap } from "../../lib/limits/bounded-map.ts";

/** No answer came from the provider. */
export class ProviderSilent extends Error {}

/** Token requests have a form as their body, others none. */
type OidcRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** Milliseconds. Somebody waits for the answer. */
const usualTimeout = 5_000;

/** A provider has its endpoints at one origin, seldom at two or three. */
const mostOrigins = 8;

/** `fetch` for the OpenID library, with the certificates and the time limit of the settings. Follows no redirect. */
export function createOidcFetch({ trust, timeout = usualTimeout }: { trust: HttpTrust; timeout?: number | undefined }) {
  const clients = new BoundedMap<string, Promise<HttpClient>>(mostOrigins);
  const clientFor = ({ origin }: URL): Promise<HttpClient> => {
    const made = clients.get(origin) ?? createHttpClient({ url: new URL(origin), trust, timeout });
    clients.set(origin, made);
    return made;
  };
  return async (url: string, { method, headers, body }: OidcRequest): Promise<Response> => {
    const target = new URL(url);
    const client = await clientFor(target);
    const request = {
      method: method as HttpRequest["method"],
      path: `${target.pathname}${target.search}`,
      headers,
      ...(body instanceof URLSearchParams && { body: body.toString() }),
      // Tokens are signed, and may contain the name of the client.
      verbatim: true as const,
    };
    const outcome = await client.send(request, AbortSignal.timeout(timeout));
    if (outcome.kind === "failed") throw new ProviderSilent(outcome.because);
    const shown = Object.entries(outcome.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    const isEmpty = outcome.status === 204 || outcome.status === 304;
    return new Response(isEmpty ? null : outcome.body, { status: outcome.status, headers: shown });
  };
}
