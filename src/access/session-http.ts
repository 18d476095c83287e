import type { ConsoleSession, ServiceLink, Services } from "../contract/console.ts";
import type { Instant } from "../core/instant.ts";
import { fieldsOfJson } from "../core/is-object.ts";
import type { MaybeLater } from "../core/maybe-later.ts";
import { json, type PlainAnswer, type PlainRequest, problem } from "../lib/http/plain-request.ts";
import type { IdentityProvider } from "./oidc/identity-provider.ts";
import { OidcSignIn } from "./oidc/oidc-sign-in.ts";
import { PasskeySignIn } from "./passkeys/passkey-sign-in.ts";
import { passwordFault } from "./password.ts";
import type { People } from "./session.ts";
import { dropCookie, isFromOwnPage } from "./session-cookie.ts";
import type { SharedGuesses } from "./session-throttle.ts";
import { type Entrance, type FoundSession, sessionOf } from "./shared-sign-in.ts";
import { busy, SignInDesk, whence } from "./sign-in-desk.ts";

export type SignInOptions = {
  readonly entrance: Entrance;
  readonly people: People;
  /** The other services that this one knows of. */
  readonly services?: (() => readonly ServiceLink[]) | undefined;
  /** The names under which people reach this service. */
  readonly names?: readonly string[] | undefined;
  /** Whether there is a password to sign in with; true if absent. */
  readonly byPassword?: () => boolean;
  /** Absent if people cannot sign in at an identity provider. */
  readonly provider?: IdentityProvider | undefined;
  readonly now: () => Instant;
  /** Absent if there is only one node. */
  readonly guesses?: SharedGuesses | undefined;
  /** Per user; absent: the usual number. */
  readonly mostPasskeys?: number | undefined;
  /** The key of the challenges of passkeys, which all nodes share; absent: one of this process. */
  readonly challengeKey?: () => Promise<string>;
  /** The answer to a session that has sent too many requests; absent: there is no limit. */
  readonly tooFast?: (session: FoundSession, from: string) => MaybeLater<PlainAnswer | undefined>;
  /** Called for every event that belongs in the log. */
  readonly note: (what: string, fields: Readonly<Record<string, unknown>>) => void;
};

/** Signing in and out, the password and the sessions, below `/console`; shared by all services that have pages. */
export function createSignIn(options: SignInOptions): (request: PlainRequest) => Promise<PlainAnswer | undefined> {
  const signIn = new SignIn(options);
  return (request) => signIn.answer(request);
}

class SignIn {
  readonly #options: SignInOptions;
  readonly #desk: SignInDesk;
  readonly #oidc: OidcSignIn | undefined;
  readonly #passkeys: PasskeySignIn;
  #checking = 0;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#desk = new SignInDesk(options);
    const { provider } = options;
    this.#oidc = provider && new OidcSignIn({ ...options, provider, desk: this.#desk });
    this.#passkeys = new PasskeySignIn({ ...options, desk: this.#desk });
  }

  /** Undefined if the request is not about signing in. */
  async answer(request: PlainRequest): Promise<PlainAnswer | undefined> {
    const { entrance } = this.#options;
    if (request.method === "POST" && request.path === oidcLogoutPath) return await this.#oidc?.logout(request);
    if (request.method === "POST" && entryPaths.test(request.path))
      return isFromOwnPage(request) ? await this.#enterBy(request) : forged;
    if (request.method === "GET" && request.path === "/console/services") return json(200, this.#services());
    if (!ownPaths.test(request.path)) return undefined;
    const outcome = await sessionOf(entrance, request);
    if (outcome.kind === "session")
      return (
        (await this.#options.tooFast?.(outcome.session, request.from)) ?? (await this.#inside(request, outcome.session))
      );
    return outcome.kind === "forged" ? forged : problem(401, "Sign in first.");
  }

  #services(): Services {
    const { entrance, services = () => [], byPassword = () => true, provider } = this.#options;
    const passkeys = entrance.passkeys !== undefined;
    return { services: services(), byPassword: byPassword(), provider: provider?.name, passkeys };
  }

  async #enterBy(request: PlainRequest): Promise<PlainAnswer | undefined> {
    if (request.path === "/console/sign-in") return await this.#byPassword(request);
    if (request.path === "/console/sign-in-link") return await this.#byLink(request);
    return (await this.#oidc?.answer(request)) ?? (await this.#passkeys.answer(request));
  }

  async #byPassword(request: PlainRequest): Promise<PlainAnswer> {
    const { people, note } = this.#options;
    const { name, password } = fieldsOfJson(request.body);
    if (typeof name !== "string" || typeof password !== "string")
      return problem(400, "Name and password are required.");
    const refusal = this.#desk.tooMany(name, request);
    if (refusal !== undefined) return refusal;
    const who = await this.#checked(() => people.check(name, password));
    if (who === tooMuchToDo) return busy;
    if (typeof who !== "string") {
      const delayed = this.#desk.failed(name, request.from);
      // The response must not reveal that the password is right.
      const because = who === undefined ? "name or password is wrong" : `the user is ${who.shutOut}`;
      const named = (await people.hasName(name)) ? { name } : {};
      note("sign-in refused", { ...named, because, ...delayed, ...whence(request) });
      return problem(401, "Name or password is wrong.");
    }
    this.#desk.succeeded(name, request);
    note("signed in", { who, ...whence(request) });
    return await this.#desk.enter(who, request);
  }

  async #byLink(request: PlainRequest): Promise<PlainAnswer> {
    const { entrance, people, note } = this.#options;
    const { link } = fieldsOfJson(request.body);
    const refusal = this.#desk.tooMany("", request);
    if (refusal !== undefined) return refusal;
    const who = typeof link === "string" ? await entrance.sessions.redeemLink(link) : undefined;
    if (who === undefined || (await people.describe(who, request.from)) === undefined) {
      note("sign-in link refused", { ...this.#desk.failed("", request.from), ...whence(request) });
      return problem(401, "This link was already used, or is older than 15 minutes. Create a new one in the terminal.");
    }
    note("signed in by link", { who, ...whence(request) });
    return await this.#desk.enter(who, request);
  }

  async #inside(request: PlainRequest, session: FoundSession): Promise<PlainAnswer | undefined> {
    const { entrance, note } = this.#options;
    const route = `${request.method} ${request.path}`;
    const { who } = session;
    if (route === "GET /console/session") return await this.#describe(request, session);
    if (route === "PUT /console/password") return await this.#changePassword(request, session);
    if (request.path.startsWith("/console/passkeys")) return await this.#passkeys.inside(request, session);
    if (route === "GET /console/sessions") return await listSessions(entrance, request, session);
    if (route === "POST /console/sign-out") {
      await entrance.signOut(request.headers);
      note("signed out", { who: session.who, ...whence(request) });
      return { status: 204, headers: { "set-cookie": dropCookie(entrance.service) }, body: "" };
    }
    const [, its = "", id] = /^DELETE \/console\/sessions\/([a-z]+)-(\d{1,15})$/.exec(route) ?? [];
    if (id === undefined) return undefined;
    if (session.role === "read" && !isOwn(session, { service: its, id: Number(id) })) return readOnly;
    const isEnded = await entrance.end(who, request.from, { service: its, id: Number(id) });
    return isEnded ? { status: 204, headers: {}, body: "" } : problem(404, "Session not found.");
  }

  async #describe(request: PlainRequest, { who, role, ticket, csrf }: FoundSession): Promise<PlainAnswer> {
    const { entrance, people, provider } = this.#options;
    const person = await people.describe(who, request.from, role);
    if (person === undefined) return problem(401, "Sign in again.");
    const canReturn = ticket !== undefined || (await entrance.canReturn(who, request.from));
    const began = ticket && { provider: provider?.name ?? "an identity provider" };
    return json(200, { ...person, canReturn, readOnly: role === "read", ...began, csrf } satisfies ConsoleSession);
  }

  async #changePassword(request: PlainRequest, session: FoundSession): Promise<PlainAnswer> {
    const { entrance, people, note } = this.#options;
    // A password would outlive the access that the identity provider grants.
    if (session.ticket !== undefined || session.role === "read") return managedElsewhere;
    const { current, next } = fieldsOfJson(request.body);
    const person = await people.describe(session.who, request.from);
    if (person === undefined) return problem(401, "Sign in again.");
    const weak = passwordFault(next, person.name);
    if (weak !== undefined) return problem(422, weak);
    if (person.hasPassword) {
      const refusal = this.#desk.tooMany(person.name, request);
      if (refusal !== undefined) return refusal;
      const who =
        typeof current === "string" ? await this.#checked(() => people.check(person.name, current)) : undefined;
      if (who === tooMuchToDo) return busy;
      if (who !== session.who) {
        this.#desk.failed(person.name, request.from);
        return problem(422, "The current password is wrong.");
      }
    }
    if ((await this.#checked(() => people.setPassword(session.who, String(next)))) === tooMuchToDo) return busy;
    await entrance.endAll(session.who, request.from);
    note("password changed, other sessions ended", { who: session.who, ...whence(request) });
    return await this.#desk.enter(session.who, request);
  }

  /** A check takes 128 MB: more than two at the same time could exhaust the memory. */
  async #checked<T>(work: () => Promise<T>): Promise<T | typeof tooMuchToDo> {
    if (this.#checking >= 2) return tooMuchToDo;
    this.#checking += 1;
    try {
      return await work();
    } finally {
      this.#checking -= 1;
    }
  }
}

async function listSessions(entrance: Entrance, request: PlainRequest, own: FoundSession): Promise<PlainAnswer> {
  const all = await entrance.list(own.who, request.from);
  // Others may share the account, and where they are is not for everybody.
  const list = own.role === "read" ? all.filter((each) => isOwn(own, each)) : all;
  return json(200, {
    sessions: list.map(({ id, service: its, from, agent, created, seen }) => ({
      id: `${its}-${id}`,
      from,
      agent,
      created: new Date(created).toISOString(),
      seen: new Date(seen).toISOString(),
      current: isOwn(own, { service: its, id }),
    })),
  });
}

const isOwn = ({ id, at }: FoundSession, other: { readonly service: string; readonly id: number }): boolean =>
  id === other.id && at.member.service === other.service;

/** The provider sends a form there, without a cookie. */
export const oidcLogoutPath = "/console/oidc/logout";

const entryPaths = /^\/console\/(?:sign-in|sign-in-link|(?:oidc|passkey)\/(?:begin|finish))$/;
const ownPaths = /^\/console\/(?:session|sessions(?:\/[a-z\d-]+)?|passkeys(?:\/[\w-]+)?|password|sign-out)$/;

/** For a session whose role allows no changes. */
export const readOnly = problem(403, "You may look at everything here, but change nothing.");

const managedElsewhere = problem(403, "You signed in at an identity provider: there is no password to change here.");

/** A page also gets this if the user has signed in again in another tab; it recognises the code. */
export const forged = json(403, {
  error: { code: "forged", message: "This request did not come from the console's own page. Reload the page." },
});

/** Not a string, because a user may have any name. */
const tooMuchToDo = Symbol("too much to do");
