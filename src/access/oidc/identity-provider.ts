import type { Configuration } from "openid-client";
import { isObject, objectOfJson } from "../../core/is-object.ts";
import { hashSecret } from "../secret.ts";
import type { ConfirmTicket, SessionRole, TicketAnswer } from "../session.ts";
import { isSilent, oidcError } from "./faults.ts";
import { createOidcFetch } from "./fetch.ts";
import { type Claims, grantFor, type OidcRule } from "./rules.ts";
import type { OidcSettings } from "./settings.ts";

type Library = typeof import("openid-client");

/**
 * One attempt to sign in. The browser keeps the secret in a cookie; state, nonce and PKCE verifier are derived from it,
 * so that nothing is stored for somebody who never comes back.
 */
export type OidcVisit = { readonly secret: string; readonly redirect: string };

export type OidcOutcome =
  /** `person` is for the log only. */
  | { readonly kind: "person"; readonly person: string; readonly grant: OidcRule; readonly ticket: string }
  /** `because` is for the log, `message` for the page. */
  | { readonly kind: "refused"; readonly because: string; readonly message: string }
  | { readonly kind: "unavailable"; readonly because: string };

/** What is needed to ask again about a user. */
type Ticket = {
  readonly subject: string;
  /** The claim that let the user in. */
  readonly claim: string;
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
      const claims = { ...own, ...(await this.#userInfo(tokens.access_token, subject)) };
      const grant = grantFor(this.#settings.allow, claims);
      const person = personOf(claims);
      if (grant === undefined)
        return { kind: "refused", because: `no rule allows ${person}`, message: notAllowed(this.name) };
      const { access_token: access, refresh_token: refresh } = tokens;
      const { claim, account, role } = grant;
      return { kind: "person", person, grant, ticket: asText({ subject, claim, account, role, access, refresh }) };
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
      const claims = { ...renewed.claims, ...(await this.#userInfoLater(kept)) };
      return this.#judged(kept, claims);
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

  #judged(ticket: Ticket, claims: Claims): TicketAnswer {
    const grant = grantFor(this.#settings.allow, claims);
    const isSame = grant !== undefined && grant.account === ticket.account && grant.role === ticket.role;
    if (isSame) return { kind: "good", ticket: asText({ ...ticket, claim: grant.claim }) };
    // Without the claim that let the user in, nothing is known: some providers send it only when somebody signs in.
    if (grant === undefined && claims[ticket.claim.split(".", 1)[0] ?? ""] === undefined)
      return { kind: "unknown", ticket: asText(ticket) };
    this.#note("session ended: the provider's user may no longer sign in as before", { subject: ticket.subject });
    return { kind: "ended" };
  }

  /** New tokens, if there is a refresh token. A provider may replace that one too; the old one then no longer works. */
  async #renewed({ refresh, subject }: Ticket): Promise<{ tokens: Partial<Ticket>; claims: Claims }> {
    if (refresh === undefined) return { tokens: {}, claims: {} };
    const { library, config } = await this.#open();
    const fresh = await library.refreshTokenGrant(config, refresh);
    const claims: Claims = fresh.claims() ?? {};
    if (claims.sub !== undefined && claims.sub !== subject)
      throw new OtherUser("the provider answered for another user");
    return { tokens: { access: fresh.access_token, refresh: fresh.refresh_token ?? refresh }, claims };
  }

  /** If this fails, the renewed tokens must be kept anyway. */
  async #userInfoLater(ticket: Ticket): Promise<Claims> {
    try {
      return await this.#userInfo(ticket.access, ticket.subject);
    } catch (error) {
      if (isEnd(error)) throw error;
      throw new AfterRenewal(asText(ticket), error);
    }
  }

  async #userInfo(access: string, subject: string): Promise<Claims> {
    const { library, config } = await this.#open();
    if (config.serverMetadata().userinfo_endpoint === undefined) return {};
    return { ...(await library.fetchUserInfo(config, access, subject)) };
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
    const execute = issuer.protocol === "http:" ? [library.allowInsecureRequests] : [];
    const authenticate: ReturnType<Library["ClientSecretBasic"]> = (server, ...rest) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
      const method = methods.includes("client_secret_basic") ? library.ClientSecretBasic : library.ClientSecretPost;
      return method(secret())(server, ...rest);
    };
    const options = { execute, [library.customFetch]: this.#fetch };
    return { library, config: await library.discovery(issuer, client, undefined, authenticate, options) };
  }
}

class OtherUser extends Error {}

class AfterRenewal extends Error {
  readonly ticket: string;

  constructor(ticket: string, cause: unknown) {
    super("the provider did not answer", { cause });
    this.ticket = ticket;
  }
}

/** The provider says that the grant is over: RFC 6749, 5.2; RFC 6750, 3.1. Anything else may pass. */
const isEnd = (error: unknown): boolean =>
  error instanceof OtherUser ||
  (isObject(error) && (error.error === "invalid_grant" || (error.name === challenged && error.status === 401)));

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
