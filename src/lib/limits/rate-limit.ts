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
  readonly ready?: (key: number, from: string, now: Instant) => Promise<void> | undefined;
  /** Takes one call of this token, session or account. Callers on this machine are not counted. */
  readonly take: (key: number, from: string, now: Instant) => Quota;
};

/** One limit for each token and session, and one for all of an account; undefined: there is none. */
export type CallLimits = { readonly caller: RateLimit | undefined; readonly account: RateLimit | undefined };

const noLimits: CallLimits = { caller: undefined, account: undefined };

type LimitedCaller = {
  readonly token?: number | undefined;
  readonly session?: number | undefined;
  readonly account: number;
};

/** Tokens, sessions and accounts have numbers of their own, but share the buckets. */
const keysOf = ({ token, session, account }: LimitedCaller) => ({
  caller: token ?? (session === undefined ? undefined : -2 * session - 1),
  account: -2 * account - 2,
});

/** Takes one call; undefined if calls are not counted. A call that its token may not make does not count for others. */
export function takeCall(
  limits: CallLimits | undefined,
  actor: LimitedCaller,
  from: string,
  now: Instant,
): Quota | undefined | Promise<Quota | undefined> {
  const { caller, account } = limits ?? noLimits;
  const keys = keysOf(actor);
  const key = keys.caller;
  if (key === undefined || (caller === undefined && account === undefined)) return undefined;
  const take = () => {
    const own = caller?.take(key, from, now);
    if (own?.retryAfter !== undefined) return own;
    const all = account?.take(keys.account, from, now);
    return own === undefined || all?.retryAfter !== undefined ? all : own;
  };
  const [own, all] = [caller?.ready?.(key, from, now), account?.ready?.(keys.account, from, now)];
  if (own === undefined && all === undefined) return take();
  return Promise.all([own ?? Promise.resolve(), all ?? Promise.resolve()]).then(take);
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
