import { isLoopback } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { BoundedMap } from "./bounded-map.ts";

/** What is left of a token's calls. Each API has its own headers for it. */
export type Quota = {
  readonly limit: number;
  readonly remaining: number;
  /** When the bucket is full again. */
  readonly fullAt: Instant;
  /** Seconds to wait if nothing was left; the call must then be refused. */
  readonly retryAfter: number | undefined;
};

export type RateLimit = {
  readonly perMinute: number;
  /** For a limit shared by several nodes: if this returns a promise, which is rare, await it before `take`. */
  readonly ready?: (token: number, from: string, now: Instant) => Promise<void> | undefined;
  /** Takes one call of this token. Callers on this machine are not counted. */
  readonly take: (token: number, from: string, now: Instant) => Quota;
};

/** Takes one call; undefined if calls are not counted. */
export function takeCall(
  limit: RateLimit | undefined,
  token: number | undefined,
  from: string,
  now: Instant,
): Quota | undefined | Promise<Quota | undefined> {
  if (limit === undefined || token === undefined) return undefined;
  const ready = limit.ready?.(token, from, now);
  return ready === undefined ? limit.take(token, from, now) : ready.then(() => limit.take(token, from, now));
}

type Bucket = { left: number; at: Instant };

const minute = 60_000;
const maximumBuckets = 10_000;

/**
 * One bucket per token: it holds the calls of one minute and refills evenly, so short bursts are allowed. A missing
 * bucket counts as full, so full ones need not be kept.
 */
export function createRateLimit(perMinute: number): RateLimit {
  const buckets = new BoundedMap<number, Bucket>(maximumBuckets);

  const bucketOf = (token: number, now: Instant): Bucket => {
    const ownBucket = buckets.get(token);
    if (ownBucket !== undefined) return ownBucket;
    const bucket = { left: perMinute, at: now };
    buckets.set(token, bucket);
    return bucket;
  };

  return {
    perMinute,
    take: (token, from, now) => {
      if (isLoopback(from)) return quotaOf(perMinute, "passes", perMinute, now);
      const bucket = bucketOf(token, now);
      // A clock that was set back refills nothing.
      const passed = Math.max(0, now - bucket.at);
      bucket.left = Math.min(perMinute, bucket.left + (passed * perMinute) / minute);
      bucket.at = now;
      const passes = bucket.left >= 1;
      if (passes) bucket.left -= 1;
      return quotaOf(perMinute, passes ? "passes" : "refused", bucket.left, now);
    },
  };
}

/** `left`: the known remaining calls, not counting this one. */
export function quotaOf(perMinute: number, call: "passes" | "refused", left: number, now: Instant): Quota {
  return {
    limit: perMinute,
    remaining: Math.min(perMinute, Math.floor(left)),
    fullAt: now + Math.ceil(((perMinute - left) * minute) / perMinute),
    retryAfter: call === "passes" ? undefined : Math.max(1, Math.ceil(((1 - left) * 60) / perMinute)),
  };
}
