import { sameHash } from "./secret.ts";
import { type Session, type Sessions, sessionLimits } from "./session.ts";

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * `__Host-`: only for this host, only over TLS, for all paths. Cookies ignore ports, so each service on a host needs
 * its own name.
 */
const cookieName = (service: string): string => `__Host-moor-${service}`;

const attributes = "Path=/; Secure; HttpOnly; SameSite=Strict";

export const setCookie = (service: string, secret: string): string =>
  `${cookieName(service)}=${secret}; ${attributes}; Max-Age=${sessionLimits.whole / 1000}`;

export const dropCookie = (service: string): string => `${cookieName(service)}=; ${attributes}; Max-Age=0`;

export function cookieOf(service: string, headers: Headers): string | undefined {
  const name = `${cookieName(service)}=`;
  const found = one(headers.cookie)
    ?.split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(name));
  return found?.slice(name.length) || undefined;
}

/** The session of a request; `forged` if it would change something and does not prove that our own page sent it. */
export type SessionFound =
  | { readonly kind: "session"; readonly session: Session }
  | { readonly kind: "none" | "forged" };

export async function sessionOf(
  service: string,
  sessions: Sessions,
  request: { readonly method: string; readonly headers: Headers },
): Promise<SessionFound> {
  const secret = cookieOf(service, request.headers);
  const session = secret === undefined ? undefined : await sessions.find(secret);
  if (session === undefined) return { kind: "none" };
  const reads = request.method === "GET" || request.method === "HEAD";
  const shown = one(request.headers["x-csrf-token"]) ?? "";
  if (reads || (isOwnOrigin(request.headers) && sameHash(shown, session.csrf))) return { kind: "session", session };
  return { kind: "forged" };
}

/** Browsers send the page's origin with every request that changes something, and most also send Sec-Fetch-Site. */
export function isOwnOrigin(headers: Headers): boolean {
  const [origin, host, site] = [one(headers.origin), one(headers.host), one(headers["sec-fetch-site"])];
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase() && (site === undefined || site === "same-origin");
}

const one = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];
