import { sessionLimits } from "./session.ts";

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

/**
 * Browsers send the page's origin with every request that changes something, and most also send Sec-Fetch-Site. Only the updater's page
 * without a password is served over plain HTTP; a proxy in front of another service speaks HTTPS.
 */
export function isOwnOrigin(headers: Headers, scheme: "https:" | "http:" = "https:"): boolean {
  const [origin, host, site] = [one(headers.origin), one(headers.host), one(headers["sec-fetch-site"])];
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return protocol === scheme && from === host.toLowerCase() && (site === undefined || site === "same-origin");
}

const one = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];
