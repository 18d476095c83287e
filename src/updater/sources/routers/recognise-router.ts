import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";

/**
 * A router with an API for which moor has a kind of source. It needs a user or a key, unlike those that `findRouters`
 * finds.
 */
export type RecognisedRouter = { readonly kind: "opnsense" | "pfsense" | "openwrt" | "mikrotik"; readonly url: URL };

/** What the login page contains. */
const banners: readonly (readonly [RegExp, RecognisedRouter["kind"]])[] = [
  [/<title>[^<]*\bOPNsense<\/title>/, "opnsense"],
  [/<title>pfSense - Login<\/title>/, "pfsense"],
  [/LuCI - Lua Configuration Interface|\/cgi-bin\/luci\b/, "openwrt"],
  [/<title>RouterOS\b/, "mikrotik"],
];

/**
 * Recognises a router by its login page, for `moor init`. Any certificate is accepted: only the page is requested, and
 * the result is only a suggestion.
 */
export async function recogniseRouter(
  address: string,
  connect: (endpoint: Endpoint) => Promise<HttpClient>,
  signal: AbortSignal,
  pages: readonly URL[] = [new URL(`https://${address}/`), new URL(`http://${address}/`)],
): Promise<RecognisedRouter | undefined> {
  for (const url of pages) {
    const client = await connect({ url, trust: { kind: "insecure" }, timeout: 3_000 });
    try {
      const outcome = await client.send({ method: "GET", path: "/", headers: { accept: "text/html" } }, signal);
      const body = outcome.kind === "answer" ? outcome.body : "";
      const kind = banners.find(([banner]) => banner.test(body))?.[1];
      // The API needs HTTPS, even if the page was found over HTTP.
      if (kind) return { kind, url: new URL(`https://${address}/`) };
    } finally {
      client.close();
    }
  }
  return undefined;
}
