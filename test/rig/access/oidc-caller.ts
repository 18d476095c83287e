import type { OidcRule, OidcSettings } from "../../../src/access/oidc/settings.ts";
import { client, type startIdentityProvider } from "./identity-provider.ts";

type RunningProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

/** How a service is told about the provider. */
export const settingsFor = ({ issuer }: Pick<RunningProvider, "issuer">, allow: readonly OidcRule[]): OidcSettings => ({
  name: "Harbour ID",
  issuer: new URL(issuer),
  client: client.id,
  secret: () => client.secret,
  scopes: ["openid", "groups"],
  allow,
  trust: { kind: "system" },
});

/** The headers of a signed-in page of the service at `url`, for a user in this group. */
export async function signInThere(provider: RunningProvider, group: string, { url, origin = url }: CalledService) {
  provider.users.set("anna", { groups: [group] });
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method,
      headers: { origin, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const begun = await call("POST", "/console/oidc/begin", {});
  const query = await provider.walk(((await begun.json()) as { readonly url: string }).url);
  const cookie = cookieIn(await call("POST", "/console/oidc/finish", { query }, { cookie: cookieIn(begun) }));
  const session = (await (await call("GET", "/console/session", undefined, { cookie })).json()) as ShownSession;
  const own = { cookie, "x-csrf-token": session.csrf };
  return {
    session,
    cookie,
    status: async (method: string, path: string, body?: unknown) => (await call(method, path, body, own)).status,
  };
}

/** `origin`: what the browser's address bar shows, if that differs. */
type CalledService = { readonly url: string; readonly origin?: string };

type ShownSession = {
  readonly csrf: string;
  readonly name: string;
  readonly readOnly: boolean;
  readonly privileges?: readonly string[];
};

const cookieIn = (response: Response): string => response.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
