import { createPrivateKey, generateKeyPairSync, type JsonWebKey, KeyObject, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";

/** Without groups, the claim is missing. */
export type ProviderUser = {
  readonly groups?: readonly string[];
  readonly email?: string;
  readonly verified?: boolean;
};

export const client = { id: "moor-at-home", secret: "a-secret-between-moor-and-the-provider" } as const;

/**
 * A real OpenID Connect provider over loopback, which requires PKCE. It signs `visitor` in without a question, and its
 * users can be changed while it runs.
 */
export async function startIdentityProvider(redirect: string, { renews = true, userinfo = true } = {}) {
  const users = new Map<string, ProviderUser>();
  const state: ProviderState = { visitor: "anna", down: false, forges: false, hangs: false };
  /** Requests, as `POST /token`. */
  const asked: string[] = [];
  const grants: Grant[] = [];
  let serve: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => {
    if (state.down) return void response.writeHead(503).end("down for maintenance");
    const path = request.url?.split("?")[0];
    asked.push(`${request.method} ${path}`);
    if (state.hangs) return;
    if (path === "/token" && state.refuses !== undefined) {
      const [status, error] = [state.refuses.endsWith("_client") ? 401 : 400, state.refuses];
      return void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    }
    if (path === "/token" && state.forges) forgeIdToken(response);
    if (path === "/me" && state.answersFor !== undefined) {
      const claims = JSON.stringify({ sub: state.answersFor, groups: ["dns-admins"] });
      return void response.writeHead(200, { "content-type": "application/json" }).end(claims);
    }
    serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configuration(redirect, users, { renews, userinfo, grants }));
  const answer = provider.callback();
  serve = (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return answer(request, response);
    const login = { accountId: state.visitor };
    void provider.interactionFinished(request, response, { login });
  };
  return {
    issuer,
    users,
    state,
    asked,
    /** What a browser does: follows the redirects from the provider's first page until it is sent back to us. */
    walk: (url: string) => walk(url, redirect),
    logoutToken: (changes: object = {}, forged?: "forged") => logoutToken(issuer, changes, forged),
    /** As on the provider's page about applications that a user has let in: its tokens are no longer valid. */
    revokeGrants: async () => void (await Promise.all(grants.splice(0).map((grant) => grant.destroy()))),
    close: async () => {
      server.close().closeAllConnections();
      await once(server, "close");
    },
  };
}

type ProviderState = {
  visitor: string;
  down: boolean;
  /** Requests get no answer. */
  hangs: boolean;
  /** The signature of ID tokens is wrong. */
  forges: boolean;
  /** The error of every token request. */
  refuses?: string | undefined;
  /** Userinfo is about this user. */
  answersFor?: string;
};

/** Changes the last letters of the signature. */
function forgeIdToken(response: ServerResponse): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  response.end = ((body: string) =>
    end(String(body).replace(/("id_token":"[^"]+\.)([^".]{8})/, "$1AAAAAAAA"))) as typeof response.end;
}

/** As OpenID Connect Back-Channel Logout 1.0, section 2.4, has it, with what Keycloak adds. */
function logoutToken(issuer: string, changes: object, forged: "forged" | undefined): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    ...{ iss: issuer, aud: client.id, iat: now, exp: now + 120, jti: randomUUID(), sub: "anna", typ: "Logout" },
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    ...changes,
  };
  const text = `${part({ alg: "RS256", typ: "logout+jwt", kid: "test" })}.${part(claims)}`;
  const by = forged === undefined ? signingKey() : generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  const privateKey = by instanceof KeyObject ? by : createPrivateKey({ key: by as JsonWebKey, format: "jwk" });
  return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
}

type Grant = InstanceType<Provider["Grant"]>;

function configuration(
  redirect: string,
  users: ReadonlyMap<string, ProviderUser>,
  { renews, userinfo, grants }: { readonly renews: boolean; readonly userinfo: boolean; readonly grants: Grant[] },
) {
  return {
    adapter: Memory,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirect],
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    jwks: { keys: [signingKey()] },
    cookies: { keys: ["only for tests"] },
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub"],
      profile: ["preferred_username"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, userinfo: { enabled: userinfo } },
    conformIdTokenClaims: userinfo,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: async () => renews,
    rotateRefreshToken: true,
    findAccount: async (_: unknown, id: string) => {
      const user = users.get(id);
      return user && { accountId: id, claims: async () => claimsOf(id, user) };
    },
    loadExistingGrant: async (context: GrantContext) => {
      const { provider, client: asking, session, params } = context.oidc;
      const grant = new provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope(params.scope);
      await grant.save();
      grants.push(grant);
      return grant;
    },
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 3_600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  };
}

/** The provider warns if it is told nothing about where to store. */
class Memory extends MemoryAdapter {}

let key: object | undefined;
/** One for all providers of a process: making it takes long. */
function signingKey(): object {
  key ??= generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({ format: "jwk" });
  return { ...key, use: "sig", alg: "RS256", kid: "test" };
}

type GrantContext = {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly params: { readonly scope: string };
  };
};

const claimsOf = (sub: string, { groups, email, verified }: ProviderUser) => ({
  ...{ sub, preferred_username: sub },
  ...(groups !== undefined && { groups }),
  ...(email !== undefined && { email, email_verified: verified ?? false }),
});

/** Returns the query with which the browser comes back. */
async function walk(from: string, redirect: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = from;
  while (!url.startsWith(redirect)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get("location");
    if (next === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    url = new URL(next, url).href;
  }
  return new URL(url).search.slice(1);
}
