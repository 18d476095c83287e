import type { Instant } from "../../core/instant.ts";
import { fieldsOfJson } from "../../core/is-object.ts";
import { json, neverCached, type PlainAnswer, type PlainRequest, problem } from "../../lib/http/plain-request.ts";
import type { People } from "../session.ts";
import type { Entrance } from "../shared-sign-in.ts";
import { busy, type SignInDesk, whence } from "../sign-in-desk.ts";
import { beginVisit, visitCookie, visitOf } from "../visit.ts";
import { oidcError } from "./faults.ts";
import type { IdentityProvider } from "./identity-provider.ts";

export type OidcSignInOptions = {
  readonly provider: IdentityProvider;
  readonly entrance: Entrance;
  readonly people: People;
  readonly desk: SignInDesk;
  readonly now: () => Instant;
  readonly note: (what: string, fields: Readonly<Record<string, unknown>>) => void;
};

/** Requests of each kind that wait for the provider at the same time: those who begin never keep others out. */
const mostWaiting = 20;

/**
 * Signing in at an identity provider. The provider sends the browser back to `/sign-in`, whose page posts what the
 * provider has added to the address: a request that another site starts would not carry our cookies.
 */
export class OidcSignIn {
  readonly #options: OidcSignInOptions;
  readonly #waiting = { begin: 0, finish: 0, logout: 0 };

  constructor(options: OidcSignInOptions) {
    this.#options = options;
  }

  /** The caller has checked that our own page sent the request. */
  async answer(request: PlainRequest): Promise<PlainAnswer | undefined> {
    if (request.path === "/console/oidc/begin")
      return await this.#inPlace("begin", request, () => this.#begin(request));
    if (request.path !== "/console/oidc/finish") return undefined;
    return await this.#inPlace("finish", request, () => this.#finish(request));
  }

  /** A request of the provider itself: a user has signed out there, or lost access (back-channel logout). */
  async logout(request: PlainRequest): Promise<PlainAnswer> {
    return await this.#inPlace("logout", request, async () => {
      const { provider, entrance, desk, now, note } = this.#options;
      const token = new URLSearchParams(request.body).get("logout_token") ?? "";
      const read = await provider.readLogout(token, now()).catch((error: unknown) => oidcError(error));
      if (typeof read === "string") {
        const delayed = desk.failed("", request.from);
        note("logout by the identity provider refused", { because: read, ...delayed, ...whence(request) });
        return problem(400, `This logout token is not accepted: ${read}.`);
      }
      const sessions = await entrance.endAtProvider(read);
      note("signed out by the identity provider", { sessions, ...whence(request) });
      return { status: 200, headers: neverCached, body: "" };
    });
  }

  async #inPlace(
    kind: "begin" | "finish" | "logout",
    request: PlainRequest,
    work: () => Promise<PlainAnswer>,
  ): Promise<PlainAnswer> {
    const refusal = this.#options.desk.tooMany("", request);
    if (refusal !== undefined) return refusal;
    if (this.#waiting[kind] >= mostWaiting) return busy;
    this.#waiting[kind] += 1;
    try {
      return await work();
    } finally {
      this.#waiting[kind] -= 1;
    }
  }

  async #begin(request: PlainRequest): Promise<PlainAnswer> {
    const { provider, entrance, now, note } = this.#options;
    const visit = beginVisit(now());
    const begun = await provider.begin({ secret: visit.secret, redirect: redirectOf(request) });
    if ("unavailable" in begun) {
      note("the identity provider is unavailable", { because: begun.unavailable, ...whence(request) });
      return unavailable(provider.name);
    }
    const answer = json(200, { url: begun.url });
    return { ...answer, headers: { ...answer.headers, "set-cookie": visitCookie(entrance.service, visit) } };
  }

  async #finish(request: PlainRequest): Promise<PlainAnswer> {
    const { provider, entrance, people, desk, now, note } = this.#options;
    const { query } = fieldsOfJson(request.body);
    const visit = visitOf(entrance.service, request, now());
    if (typeof query !== "string" || visit === undefined || people.forOidc === undefined) return tooLate;
    const outcome = await provider.finish({ secret: visit.secret, redirect: redirectOf(request) }, query);
    if (outcome.kind === "unavailable") {
      note("the identity provider is unavailable", { because: outcome.because, ...whence(request) });
      return unavailable(provider.name);
    }
    const { grant, person, ticket } = outcome.kind === "person" ? outcome : {};
    const who = grant && (await people.forOidc(grant.account, grant.role));
    // A user may have been disabled here.
    if (outcome.kind === "refused" || who === undefined || !(await people.describe(who, request.from))) {
      const because = outcome.kind === "refused" ? outcome.because : `${person} is disabled here`;
      note("sign-in at the identity provider refused", {
        because,
        ...desk.failed("", request.from),
        ...whence(request),
      });
      return problem(401, outcome.kind === "refused" ? outcome.message : "This user may not sign in here.");
    }
    note("signed in at the identity provider", { who, person, ...whence(request) });
    return await desk.enter(who, request, { role: grant?.role, ticket });
  }
}

/** The provider accepts only addresses that were registered there, so that no other page can be named. */
const redirectOf = ({ headers }: PlainRequest): string => `${headers.origin}/sign-in`;

const tooLate = problem(401, "This sign-in took too long, or began in another browser. Try again.");

const unavailable = (name: string): PlainAnswer =>
  problem(503, `${name} is not responding. Try again in a moment, or sign in another way.`);
