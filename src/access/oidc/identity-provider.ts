import type { Configuration } from "openid-client";
import type { Instant } from "../../core/instant.ts";
import { isObject, objectOfJson } from "../../core/is-object.ts";
import { BoundedMap } from "../../lib/limits/bounded-map.ts";
import { hashSecret } from "../secret.ts";
import type { ConfirmTicket, ProviderSession, ProviderTicket, SessionRole, TicketAnswer } from "../session.ts";
import { isSilent, oidcError } from "./faults.ts";
import { createOidcFetch } from "./fetch.ts";
import { readLogoutToken } from "./logout-token.ts";
import { type Claims, claimsOfBoth, grantFor, hasClaim, type OidcRule } from "./rules.ts";
import type { OidcSettings } from "./settings.ts";

type Library = typeof import("openid-client");

/**
 * One attempt to sign in. The browser keeps the secret in a cookie; state, nonce and PKCE verifier are derived from it,
 * so that nothing is stored for somebody who never comes back.
 */
export type OidcVisit = { readonly secret: string; readonly redirect: string };

export type OidcOutcome =
  /** `person` is for the log only. */
  | { readonly kind: "person"; readonly person: string; readonly grant: OidcRule; readonly ticket: ProviderTicket }
  /** `because` is for the log, `message` for the page. */
  | { readonly kind: "refused"; readonly because: string; readonly message: string }
  | { readonly kind: "unavailable"; readonly because: string };

/** What is needed to ask again about a user. */
type Ticket = {
  readonly subject: string;
  /** The claim that let the user in, and the document that had it. */
  readonly claim: string;
  readonly claimIn?: "id-token" | "userinfo";
  readonly account?: string | undefined;
  readonly role: SessionRole;
  readonly access: string;
  readonly refresh?: string | undefined;
};

export type NoteOidc = (what: string, fields: Readonly<Record<string, unknown>>) => void;

/** Where people sign in: OpenID Connect, by the code flow (OpenID Connect Core, 3.1) with PKCE (RFC 7636). */
export class IdentityProvider {
  readonly #settings: OidcSettings;
  readonly #note: NoteOidc;
  readonly #fetch: ReturnType<typeof createOidcFetch>;
  readonly #usedLogouts = new BoundedMap<string, true>(mostLogouts);
  #opening: Promise<{ readonly library: Library; readonly config: Configuration }> | undefined;

  constructor(settings: OidcSettings, note: NoteOidc) {
    this.#settings = settings;
    this.#note = note;
    this.#fetch = createOidcFetch(settings);
  }

  get name(): string {
    return this.#settings.name;
  }

  /** The URL to send the browser to. */
  async begin({ secret, redirect }: OidcVisit): Promise<{ readonly url: string } | { readonly unavailable: string }> {
    try {
      const { library, config } = await this.#open();
      const offered = config.serverMetadata().scopes_supported;
      const scopes = this.#settings.scopes.filter((scope) => scope === "openid" || (offered?.includes(scope) ?? true));
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: scopes.join(" "),
        state: stateOf(secret),
        nonce: nonceOf(secret),
        code_challenge: await library.calculatePKCECodeChallenge(verifierOf(secret)),
        code_challenge_method: "S256",
      });
      return { url: url.href };
    } catch (error) {
      return { unavailable: oidcError(error) };
    }
  }

  /** `query` is what the provider added to the redirect URI. */
  async finish({ secret, redirect }: OidcVisit, query: string): Promise<OidcOutcome> {
    try {
      const { library, config } = await this.#open();
      const tokens = await library.authorizationCodeGrant(config, new URL(`${redirect}?${query}`), {
        expectedState: stateOf(secret),
        expectedNonce: nonceOf(secret),
        pkceCodeVerifier: verifierOf(secret),
        idTokenExpected: true,
      });
      const own: Claims = tokens.claims() ?? {};
      const subject = String(own.sub);
      const info = await this.#userInfo(tokens.access_token, subject);
      const claims = claimsOfBoth(own, info ?? {});
      const grant = grantFor(this.#settings.allow, claims);
      const person = personOf(claims);
      if (grant === undefined)
        return { kind: "refused", because: `no rule allows ${person}`, message: notAllowed(this.name) };
      const { access_token: access, refresh_token: refresh } = tokens;
      const { claim, account, role } = grant;
      const claimIn = info && hasClaim(info, claim) ? "userinfo" : "id-token";
      const text = asText({ subject, claim, claimIn, account, role, access, refresh });
      const sid = typeof own.sid === "string" ? own.sid : undefined;
      return { kind: "person", person, grant, ticket: { text, subject, sid } };
    } catch (error) {
      const because = oidcError(error);
      if (isSilent(error)) return { kind: "unavailable", because };
      return { kind: "refused", because, message: notSignedIn(this.name) };
    }
  }

  readonly confirm: ConfirmTicket = async (text) => {
    const ticket = readTicket(text);
    if (ticket === undefined) return { kind: "ended" };
    const { subject } = ticket;
    try {
      const renewed = await this.#renewed(ticket);
      const kept = { ...ticket, ...renewed.tokens };
      return this.#judged(kept, { idToken: renewed.claims, userInfo: await this.#userInfoLater(kept) });
    } catch (error) {
      const because = oidcError(error);
      if (isEnd(error)) {
        this.#note("session ended by the provider", { subject, because });
        return { kind: "ended" };
      }
      this.#note("session not confirmed", { subject, because });
      return { kind: "unknown", ...(error instanceof AfterRenewal && { ticket: error.ticket }) };
    }
  };

  #judged(ticket: Ticket, { idToken, userInfo }: Documents): TicketAnswer {
    const grant = grantFor(this.#settings.allow, claimsOfBoth(idToken ?? {}, userInfo ?? {}));
    const isSame = grant !== undefined && grant.account === ticket.account && grant.role === ticket.role;
    if (isSame) return { kind: "good", ticket: asText({ ...ticket, claim: grant.claim }) };
    // Some providers send no ID token later: nothing is known then. If the document that had the claim is there, it is
    // complete: Keycloak, for one, leaves out the groups of a user who has none.
    const document = ticket.claimIn === "id-token" ? idToken : userInfo;
    if (grant === undefined && document === undefined) return { kind: "unknown", ticket: asText(ticket) };
    this.#note("session ended: the provider's user may no longer sign in as before", { subject: ticket.subject });
    return { kind: "ended" };
  }

  /** New tokens, if there is a refresh token. A provider may replace that one too; the old one then no longer works. */
  async #renewed({ refresh, subject }: Ticket): Promise<{ tokens: Partial<Ticket>; claims: Claims | undefined }> {
    if (refresh === undefined) return { tokens: {}, claims: undefined };
    const { library, config } = await this.#open();
    const fresh = await library.refreshTokenGrant(config, refresh);
    const claims: Claims | undefined = fresh.claims();
    if (claims && claims.sub !== subject) throw new OtherUser(otherUser);
    return { tokens: { access: fresh.access_token, refresh: fresh.refresh_token ?? refresh }, claims };
  }

  /** If this fails, the renewed tokens must be kept anyway. */
  async #userInfoLater(ticket: Ticket): Promise<Claims | undefined> {
    try {
      return await this.#userInfo(ticket.access, ticket.subject);
    } catch (error) {
      if (isEnd(error)) throw error;
      throw new AfterRenewal(asText(ticket), error);
    }
  }

  /** Undefined if the provider has no userinfo. */
  async #userInfo(access: string, subject: string): Promise<Claims | undefined> {
    const { library, config } = await this.#open();
    if (config.serverMetadata().userinfo_endpoint === undefined) return undefined;
    const claims = await library.fetchUserInfo(config, access, library.skipSubjectCheck);
    if (claims.sub !== subject) throw new OtherUser(otherUser);
    return claims;
  }

  /** Whose sessions a logout token ends (OpenID Connect Back-Channel Logout 1.0), or why it does not. */
  async readLogout(token: string, now: Instant): Promise<ProviderSession | string> {
    const { config } = await this.#open();
    const { issuer, jwks_uri: keys } = config.serverMetadata();
    if (keys === undefined) return "the provider publishes no keys";
    return await readLogoutToken(token, {
      issuer,
      client: this.#settings.client,
      keys: async () => {
        const set = objectOfJson(await (await this.#fetch(keys, { method: "GET", headers: {} })).text());
        return Array.isArray(set?.keys) ? set.keys.filter(isObject) : [];
      },
      isNew: (id) => {
        const isNew = this.#usedLogouts.get(id) === undefined;
        this.#usedLogouts.set(id, true);
        return isNew;
      },
      now,
    });
  }

  /** Discovery, on first use: the provider may start later than moor. A failure is not remembered. */
  #open() {
    this.#opening ??= this.#discover();
    this.#opening.catch(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #discover() {
    const { issuer, client, secret } = this.#settings;
    const library = await import("openid-client");
    // Settings allow plain HTTP for loopback only.
    const insecure = issuer.protocol === "http:" ? [library.allowInsecureRequests] : [];
    const execute = [...insecure, library.enableNonRepudiationChecks];
    const authenticate: ReturnType<Library["ClientSecretBasic"]> = (server, ...rest) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
      const method = methods.includes("client_secret_basic") ? library.ClientSecretBasic : library.ClientSecretPost;
      return method(secret())(server, ...rest);
    };
    const options = { execute, [library.customFetch]: this.#fetch };
    return { library, config: await library.discovery(issuer, client, undefined, authenticate, options) };
  }
}

type Documents = { readonly idToken: Claims | undefined; readonly userInfo: Claims | undefined };

class OtherUser extends Error {}

const otherUser = "the provider answered for another user";

/** More are sent within the few minutes that a logout token is good for only by somebody who has the provider's key. */
const mostLogouts = 10_000;

class AfterRenewal extends Error {
  readonly ticket: string;

  constructor(ticket: string, cause: unknown) {
    super("the provider did not answer", { cause });
    this.ticket = ticket;
  }
}

/** The provider says that the grant, or moor itself, is over: RFC 6749, 4.1.2.1 and 5.2; RFC 6750, 3.1. */
const isEnd = (error: unknown): boolean =>
  error instanceof OtherUser ||
  (isObject(error) && (ends.has(String(error.error)) || (error.name === challenged && error.status === 401)));

/** Anything else may pass. Keycloak says `unauthorized_client` if the secret of the client is wrong. */
const ends: ReadonlySet<string> = new Set(["invalid_grant", "access_denied", "invalid_client", "unauthorized_client"]);

const challenged = "WWWAuthenticateChallengeError";

const [stateOf, nonceOf, verifierOf] = (["state", "nonce", "verifier"] as const).map(
  (what) =>
    (secret: string): string =>
      hashSecret(`oidc ${what}:${secret}`),
) as [Derive, Derive, Derive];

type Derive = (secret: string) => string;

/** As the provider's administrator knows the user. */
const personOf = ({ preferred_username: name, email, sub }: Claims): string =>
  String(name ?? email ?? sub).slice(0, 200);

const asText = (ticket: Ticket): string => JSON.stringify(ticket);

function readTicket(text: string): Ticket | undefined {
  const read = objectOfJson(text);
  return typeof read?.subject === "string" && typeof read.access === "string" ? (read as Ticket) : undefined;
}

const notAllowed = (name: string): string =>
  `${name} knows you, but you may not sign in here. Ask the administrator to allow your user or group.`;

const notSignedIn = (name: string): string => `${name} did not sign you in. Try again.`;
