import { parseAddress } from "../../core/addresses/address.ts";

/** Answers are for one caller only, so no cache may keep them; immutable files set their own header. */
export const neverCached = { "cache-control": "no-store" } as const;

/** Seconds. A week: an operator who gives up TLS or loses the trusted authority is not locked out for long. */
const maxAge = 7 * 24 * 60 * 60;

/**
 * HSTS (RFC 6797) for the host name in the request. The policy applies to every port of a host, so it is not sent for `localhost`
 * and names without a dot: other servers there may speak plain HTTP. For addresses, browsers ignore it.
 */
export function transportSecurity(host: string | undefined): Readonly<Record<string, string>> {
  const name = (host ?? "").replace(/:\d+$/, "").replace(/\.$/, "").toLowerCase();
  const shared = !name.includes(".") || name.endsWith(".localhost") || name.startsWith("[");
  return shared || parseAddress(name) !== undefined ? {} : { "strict-transport-security": `max-age=${maxAge}` };
}
