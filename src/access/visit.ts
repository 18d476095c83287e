import type { Instant } from "../core/instant.ts";
import type { PlainRequest } from "../lib/http/plain-request.ts";
import { createToken } from "./secret.ts";
import { cookieOf, setCookie } from "./session-cookie.ts";

/**
 * An attempt to sign in that takes two requests. The browser keeps its secret in a cookie, and what the second request
 * must match is derived from it: callers who never come back leave nothing behind.
 */
export type Visit = { readonly secret: string; readonly since: Instant };

/** Milliseconds: people may have to find their phone. */
const longest = 10 * 60_000;

const nameOf = (service: string): string => `${service}-visit`;

export const beginVisit = (now: Instant): Visit => ({ secret: `${createToken(43)}.${now}`, since: now });

export const visitCookie = (service: string, { secret }: Visit): string =>
  setCookie(nameOf(service), secret, longest / 1_000);

/** Undefined if there is none, or it took too long. Nobody can make it younger: the time is a part of the secret. */
export function visitOf(service: string, { headers }: PlainRequest, now: Instant): Visit | undefined {
  const secret = cookieOf(nameOf(service), headers) ?? "";
  const since = Number(/^\w{43}\.(\d{1,15})$/.exec(secret)?.[1] ?? Number.NaN);
  return now - since >= 0 && now - since < longest ? { secret, since } : undefined;
}
