import type { ServiceLink, Services } from "../contract/console.ts";
import type { Instant } from "../core/instant.ts";
import { fieldsOfJson } from "../core/is-object.ts";
import { json, type PlainAnswer, type PlainRequest, problem } from "../lib/http/plain-request.ts";
import { passwordFault } from "./password.ts";
import type { People } from "./session.ts";
import { dropCookie, isFromOwnPage, setCookie } from "./session-cookie.ts";
import { createThrottle, type SharedGuesses } from "./session-throttle.ts";
import { type Entrance, type FoundSession, sessionOf } from "./shared-sign-in.ts";

export type SignInOptions = {
  readonly entrance: Entrance;
  readonly people: People;
  /** The other services that this one knows of. */
  readonly services?: (() => readonly ServiceLink[]) | undefined;
  /** Whether there is a password to sign in with; true if absent. */
  readonly byPassword?: () => boolean;
  readonly now: () => Instant;
  /** Absent if there is only one node. */
  readonly guesses?: SharedGuesses | undefined;
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
  readonly #throttle = createThrottle();
  #checking = 0;

  constructor(options: SignInOptions) {
    this.#options = options;
    options.guesses?.onHeard(({ name, source }) => this.#throttle.failed(name, source, options.now()));
  }

  /** Undefined if the request is not about signing in. */
  async answer(request: PlainRequest): Promise<PlainAnswer | undefined> {
    const { entrance, services = () => [], byPassword = () => true } = this.#options;
    const route = `${request.method} ${request.path}`;
    if (route === "POST /console/sign-in" || route === "POST /console/sign-in-link") {
      if (!isFromOwnPage(request)) return forged;
      return await (route === "POST /console/sign-in" ? this.#byPassword(request) : this.#byLink(request));
    }
    if (route === "GET /console/services")
      return json(200, { services: services(), byPassword: byPassword() } satisfies Services);
    if (!ownPaths.test(request.path)) return undefined;
    const found = await sessionOf(entrance, request);
    if (found.kind === "session") return await this.#inside(request, found.session);
    return found.kind === "forged" ? forged : problem(401, "Sign in first.");
  }

  async #byPassword(request: PlainRequest): Promise<PlainAnswer> {
    const { people, note } = this.#options;
    const { name, password } = fieldsOfJson(request.body);
    if (typeof name !== "string" || typeof password !== "string")
      return problem(400, "Name and password are required.");
    const wait = this.#wait(name, request);
    if (wait > 0) return tooMany(wait);
    const who = await this.#checked(() => people.check(name, password));
    if (who === tooMuchToDo) return busy;
    if (typeof who !== "string") {
      const delayed = this.#failed(name, request.from);
      // The response must not reveal that the password is right.
      const because = who === undefined ? "name or password is wrong" : `the user is ${who.shutOut}`;
      const named = (await people.hasName(name)) ? { name } : {};
      note("sign-in refused", { ...named, because, ...delayed, ...whence(request) });
      return problem(401, "Name or password is wrong.");
    }
    this.#throttle.succeeded(name, request.from);
    note("signed in", { who, ...whence(request) });
    return await this.#enter(who, request);
  }

  async #byLink(request: PlainRequest): Promise<PlainAnswer> {
    const { entrance, people, note } = this.#options;
    const { link } = fieldsOfJson(request.body);
    const wait = this.#wait("", request);
    if (wait > 0) return tooMany(wait);
    const who = typeof link === "string" ? await entrance.sessions.redeemLink(link) : undefined;
    if (who === undefined || (await people.describe(who, request.from)) === undefined) {
      note("sign-in link refused", { ...this.#failed("", request.from), ...whence(request) });
      return problem(401, "This link was already used, or is older than 15 minutes. Create a new one in the terminal.");
    }
    note("signed in by link", { who, ...whence(request) });
    return await this.#enter(who, request);
  }

  async #inside(request: PlainRequest, session: FoundSession): Promise<PlainAnswer | undefined> {
    const { entrance, people, note } = this.#options;
    const route = `${request.method} ${request.path}`;
    const { who } = session;
    if (route === "GET /console/session") {
      const person = await people.describe(who, request.from);
      if (person === undefined) return problem(401, "Sign in again.");
      const canReturn = await entrance.canReturn(who, request.from);
      return json(200, { ...person, canReturn, csrf: session.csrf });
    }
    if (route === "PUT /console/password") return await this.#changePassword(request, session);
    if (route === "GET /console/sessions") return await listSessions(entrance, request, session);
    if (route === "POST /console/sign-out") {
      await entrance.signOut(request.headers);
      note("signed out", { who: session.who, ...whence(request) });
      return { status: 204, headers: { "set-cookie": dropCookie(entrance.service) }, body: "" };
    }
    const [, its = "", id] = /^DELETE \/console\/sessions\/([a-z]+)-(\d{1,15})$/.exec(route) ?? [];
    if (id === undefined) return undefined;
    const found = await entrance.end(who, request.from, { service: its, id: Number(id) });
    return found ? { status: 204, headers: {}, body: "" } : problem(404, "Session not found.");
  }

  async #changePassword(request: PlainRequest, session: FoundSession): Promise<PlainAnswer> {
    const { entrance, people, note } = this.#options;
    const { current, next } = fieldsOfJson(request.body);
    const person = await people.describe(session.who, request.from);
    if (person === undefined) return problem(401, "Sign in again.");
    const weak = passwordFault(next, person.name);
    if (weak !== undefined) return problem(422, weak);
    if (person.hasPassword) {
      const wait = this.#wait(person.name, request);
      if (wait > 0) return tooMany(wait);
      const who =
        typeof current === "string" ? await this.#checked(() => people.check(person.name, current)) : undefined;
      if (who === tooMuchToDo) return busy;
      if (who !== session.who) {
        this.#failed(person.name, request.from);
        return problem(422, "The current password is wrong.");
      }
    }
    if ((await this.#checked(() => people.setPassword(session.who, String(next)))) === tooMuchToDo) return busy;
    await entrance.endAll(session.who, request.from);
    note("password changed, other sessions ended", { who: session.who, ...whence(request) });
    return await this.#enter(session.who, request);
  }

  async #enter(who: string, request: PlainRequest): Promise<PlainAnswer> {
    const { service, sessions } = this.#options.entrance;
    const agent = String(request.headers["user-agent"] ?? "").slice(0, 300);
    const secret = await sessions.begin(who, { from: request.from, agent });
    return { status: 204, headers: { "set-cookie": setCookie(service, secret) }, body: "" };
  }

  /** Milliseconds until the next attempt is allowed. */
  #wait(name: string, { from }: PlainRequest): number {
    return this.#throttle.wait(name, from, this.#options.now());
  }

  /** Returns by how many seconds the next attempt is delayed, for the log. */
  #failed(name: string, source: string): { readonly delayed?: number } {
    const { guesses, now } = this.#options;
    this.#throttle.failed(name, source, now());
    guesses?.tell({ name, source });
    const wait = this.#throttle.wait(name, source, now());
    return wait > 0 ? { delayed: Math.ceil(wait / 1_000) } : {};
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
  const list = await entrance.list(own.who, request.from);
  return json(200, {
    sessions: list.map(({ id, service: its, from, agent, created, seen }) => ({
      id: `${its}-${id}`,
      from,
      agent,
      created: new Date(created).toISOString(),
      seen: new Date(seen).toISOString(),
      current: id === own.id && its === own.at.member.service,
    })),
  });
}

const whence = ({ from, id }: PlainRequest) => ({ from, request: id });

const ownPaths = /^\/console\/(?:session|sessions(?:\/[a-z\d-]+)?|password|sign-out)$/;

/** A page also gets this if the user has signed in again in another tab; it recognises the code. */
export const forged = json(403, {
  error: { code: "forged", message: "This request did not come from the console's own page. Reload the page." },
});

/** Not a string, because a user may have any name. */
const tooMuchToDo = Symbol("too much to do");

const busy: PlainAnswer = ((answer) => ({ ...answer, headers: { ...answer.headers, "retry-after": "1" } }))(
  problem(429, "Too many sign-ins at this moment. Try again in a second."),
);

function tooMany(wait: number): PlainAnswer {
  const seconds = Math.ceil(wait / 1_000);
  const answer = problem(429, `Too many wrong attempts. Try again in ${inWords(seconds)}.`);
  return { ...answer, headers: { ...answer.headers, "retry-after": String(seconds) } };
}

const inWords = (seconds: number): string =>
  seconds < 120 ? `${seconds} second${seconds === 1 ? "" : "s"}` : `${Math.ceil(seconds / 60)} minutes`;
