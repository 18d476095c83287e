import { isLoopback } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";

/** What is left to one token. Every face writes it into headers of its own. */
export type Quota = {
  readonly limit: number;
  readonly remaining: number;
  /** When all of it is there again. */
  readonly fullAt: Instant;
  /** Seconds to wait when nothing was left; the call is then to be refused. */
  readonly retryAfter: number | undefined;
};

export type RateLimit = {
  readonly perMinute: number;
  /** For a limit that holds on several nodes: to be waited for before `take` when it gives a promise, which is seldom. */
  readonly ready?: (token: number, from: string, now: Instant) => Promise<void> | undefined;
  /** Takes one call of this token. Callers on this machine are not counted. */
  readonly take: (token: number, from: string, now: Instant) => Quota;
};

/** Takes one call, for every face; undefined where calls are not counted. */
export async function takeCall(
  limit: RateLimit | undefined,
  token: number | undefined,
  from: string,
  now: Instant,
): Promise<Quota | undefined> {
  if (limit === undefined || token === undefined) return undefined;
  await limit.ready?.(token, from, now);
  return limit.take(token, from, now);
}

type Bucket = { left: number; at: Instant };

const minute = 60_000;
const maximumBuckets = 10_000;

/**
 * A bucket a token: it holds a minute's calls and fills evenly, so a client may be quick for a moment but not for long.
 * A full bucket is as good as none, so that old ones need not be kept.
 */
export function createRateLimit(perMinute: number): RateLimit {
  const buckets = new Map<number, Bucket>();

  const bucketOf = (token: number, now: Instant): Bucket => {
    const known = buckets.get(token);
    if (known !== undefined) return known;
    if (buckets.size >= maximumBuckets) dropOldest(buckets);
    const bucket = { left: perMinute, at: now };
    buckets.set(token, bucket);
    return bucket;
  };

  return {
    perMinute,
    take: (token, from, now) => {
      if (isLoopback(from)) return quotaOf(perMinute, "passes", perMinute, now);
      const bucket = bucketOf(token, now);
      // A clock that was set back fills nothing.
      const passed = Math.max(0, now - bucket.at);
      bucket.left = Math.min(perMinute, bucket.left + (passed * perMinute) / minute);
      bucket.at = now;
      const passes = bucket.left >= 1;
      if (passes) bucket.left -= 1;
      return quotaOf(perMinute, passes ? "passes" : "refused", bucket.left, now);
    },
  };
}

/** `left`: of the calls of a minute, as far as is known, and without the one that it is told to. */
export function quotaOf(perMinute: number, call: "passes" | "refused", left: number, now: Instant): Quota {
  return {
    limit: perMinute,
    remaining: Math.min(perMinute, Math.floor(left)),
    fullAt: now + Math.ceil(((perMinute - left) * minute) / perMinute),
    retryAfter: call === "passes" ? undefined : Math.max(1, Math.ceil(((1 - left) * 60) / perMinute)),
  };
}

/** Those that were made first: a tenth of all, so that this is not done for every new one. */
function dropOldest(buckets: Map<number, Bucket>): void {
  let left = maximumBuckets / 10;
  for (const token of buckets.keys()) {
    if (left-- <= 0) return;
    buckets.delete(token);
  }
}
