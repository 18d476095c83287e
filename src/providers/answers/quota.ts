import type { IncomingHttpHeaders } from "node:http";
import type { Instant } from "../../core/instant.ts";

/** Requests kept in reserve, so that users can still sign in and see what is wrong. */
const reserve = 4;
const hour = 3_600_000;

/**
 * When a service whose quota is nearly used up has room again. In v1, `ratelimit-reset` is the number of seconds until
 * the whole quota is available again. In rrsets, it is the Unix time at which the bucket, which fills steadily, is
 * full.
 */
export function roomAgainAt(headers: IncomingHttpHeaders, now: Instant): Instant | undefined {
  const limit = numberIn(headers["ratelimit-limit"]);
  const remaining = numberIn(headers["ratelimit-remaining"]);
  const reset = numberIn(headers["ratelimit-reset"]);
  if (remaining === undefined || reset === undefined || remaining >= Math.min(reserve, limit ?? reserve)) {
    return undefined;
  }
  const isClock = reset > 1_000_000_000;
  if (!isClock) return now + Math.min(hour, reset * 1000);
  const untilFull = reset * 1000 - now;
  const missing = Math.max(1, (limit ?? reserve) - remaining);
  const wait = (untilFull * (reserve - remaining)) / missing;
  return now + Math.min(hour, Math.max(0, Math.ceil(wait)));
}

function numberIn(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === "string" ? header.trim() : "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
