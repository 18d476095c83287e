import { isLoopbackName } from "../lib/http/listen.ts";
import { sessionLimits } from "./session.ts";

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * `__Host-`: only for this host, only over TLS, for all paths. Cookies ignore ports, so each service on a host needs
 * its own name.
 */
const cookieName = (service: string): string => `__Host-moor-${service}`;

const attributes = "Path=/; Secure; HttpOnly; SameSite=Strict";

export const setCookie = (service: string, secret: string, seconds = sessionLimits.whole / 1_000): string =>
  `${cookieName(service)}=${secret}; ${attributes}; Max-Age=${seconds}`;

export const dropCookie = (service: string): string => `${cookieName(service)}=; ${attributes}; Max-Age=0`;

export function cookieOf(service: string, headers: Headers): string | undefined {
  const name = `${cookieName(service)}=`;
  const cookie = one(headers.cookie)
    ?.split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(name));
  return cookie?.slice(name.length) || undefined;
}

/**
 * Browsers send the page's origin with every request that changes something, and most also send Sec-Fetch-Site. The
 * updater's page without a password is always served over plain HTTP.
 */
export function isOwnOrigin(headers: Headers, scheme: "https:" | "http:" = "https:"): boolean {
  const [origin, host, site] = [one(headers.origin), one(headers.host), one(headers["sec-fetch-site"])];
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return protocol === scheme && from === host.toLowerCase() && (site === undefined || site === "same-origin");
}

/**
 * Without TLS, a service is behind a proxy, which speaks HTTPS, or its page is opened on the machine itself: browsers
 * accept the cookie from a loopback name over plain HTTP.
 */
export const isFromOwnPage = ({ headers, isPlainHttp }: { headers: Headers; isPlainHttp?: boolean }): boolean =>
  isOwnOrigin(headers) || (isPlainHttp === true && isLoopbackName(one(headers.host)) && isOwnOrigin(headers, "http:"));

const one = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];
