import type { Instant } from "../core/instant.ts";
import { type PlainAnswer, type PlainRequest, problem } from "../lib/http/plain-request.ts";
import type { SignedInBy } from "./session.ts";
import { setCookie } from "./session-cookie.ts";
import { createThrottle, type SharedGuesses } from "./session-throttle.ts";
import type { Entrance } from "./shared-sign-in.ts";

export type DeskOptions = {
  readonly entrance: Entrance;
  readonly now: () => Instant;
  /** Absent if there is only one node. */
  readonly guesses?: SharedGuesses | undefined;
};

/** What all ways to sign in have in common: the limit for wrong attempts, and the session at the end. */
export class SignInDesk {
  readonly #options: DeskOptions;
  readonly #throttle = createThrottle();

  constructor(options: DeskOptions) {
    this.#options = options;
    options.guesses?.onHeard(({ name, source }) => this.#throttle.failed(name, source, options.now()));
  }

  /** The answer if there were too many wrong attempts. `name` is empty if the caller has given none. */
  tooMany(name: string, { from }: PlainRequest): PlainAnswer | undefined {
    const wait = this.#throttle.wait(name, from, this.#options.now());
    return wait > 0 ? tooMany(wait) : undefined;
  }

  /** Returns by how many seconds the next attempt is delayed, for the log. */
  failed(name: string, source: string): { readonly delayed?: number } {
    const { guesses, now } = this.#options;
    this.#throttle.failed(name, source, now());
    guesses?.tell({ name, source });
    const wait = this.#throttle.wait(name, source, now());
    return wait > 0 ? { delayed: Math.ceil(wait / 1_000) } : {};
  }

  succeeded(name: string, { from }: PlainRequest): void {
    this.#throttle.succeeded(name, from);
  }

  async enter(who: string, request: PlainRequest, by: SignedInBy = {}): Promise<PlainAnswer> {
    const { service, sessions } = this.#options.entrance;
    const agent = String(request.headers["user-agent"] ?? "").slice(0, 300);
    const secret = await sessions.begin(who, { from: request.from, agent }, by);
    return { status: 204, headers: { "set-cookie": setCookie(service, secret) }, body: "" };
  }
}

function tooMany(wait: number): PlainAnswer {
  const seconds = Math.ceil(wait / 1_000);
  const answer = problem(429, `Too many wrong attempts. Try again in ${inWords(seconds)}.`);
  return { ...answer, headers: { ...answer.headers, "retry-after": String(seconds) } };
}

const inWords = (seconds: number): string =>
  seconds < 120 ? `${seconds} second${seconds === 1 ? "" : "s"}` : `${Math.ceil(seconds / 60)} minutes`;

export const busy: PlainAnswer = ((answer) => ({ ...answer, headers: { ...answer.headers, "retry-after": "1" } }))(
  problem(429, "Too many sign-ins at this moment. Try again in a second."),
);

/** Where a request came from, for the log. */
export const whence = ({ from, id }: PlainRequest) => ({ from, request: id });
