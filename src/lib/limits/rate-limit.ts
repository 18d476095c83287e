import { isLoopback } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { within } from "../../process/within.ts";
import { BoundedMap } from "./bounded-map.ts";

/** What is left of a token's calls. Each face has its own headers for it. */
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
    const known = buckets.get(token);
    if (known !== undefined) return known;
    const bucket = { left: perMinute, at: now };
    buckets.set(token, bucket);
    return bucket;
  };

  return {
    perMinute,
    take: (token, from, now) => {
      if (isLoopback(from)) return quotaOf(perMinute, "passes", perMinute, now);
      const bucket = bucketOf(token, now);
      bucket.left = refilled(bucket.left, now - bucket.at, perMinute, perMinute / minute);
      bucket.at = now;
      const passes = bucket.left >= 1;
      if (passes) bucket.left -= 1;
      return quotaOf(perMinute, passes ? "passes" : "refused", bucket.left, now);
    },
  };
}

/** `left`: the known remaining calls, not counting this one. */
function quotaOf(perMinute: number, call: "passes" | "refused", left: number, now: Instant): Quota {
  return {
    limit: perMinute,
    remaining: Math.min(perMinute, Math.floor(left)),
    fullAt: now + Math.ceil(((perMinute - left) * minute) / perMinute),
    retryAfter: call === "passes" ? undefined : Math.max(1, Math.ceil(((1 - left) * 60) / perMinute)),
  };
}

/** The calls that all nodes share, per token. */
export type CommonBudget = {
  /** Takes up to `want` calls, and none if less than one is left. `left`: what remains for all nodes. */
  readonly takeCalls: (token: number, want: number, rule: BudgetRule) => Promise<BudgetGrant>;
};

/** The capacity of a bucket, and its refill per minute. */
export type BudgetRule = { readonly capacity: number; readonly perMinute: number };
export type BudgetGrant = { readonly granted: number; readonly left: number };

export type SharedLimitOptions = {
  readonly perMinute: number;
  readonly budget: CommonBudget;
  /** Milliseconds that a call waits for the database; after that, this node's own budget decides. */
  readonly patience?: number;
};

const lifetime = 3_000;
const lookAgain = 1_000;
const maximumShares = 10_000;

/**
 * One budget per token for all nodes. Each node takes a small part of it in advance and counts calls against that part
 * without asking the database. What it does not use within three seconds is forfeited. The common bucket is smaller by
 * what it refills in three seconds (a twentieth), so all nodes together never allow more calls than a single node
 * would.
 *
 * While the database is slow or down, each node uses its own bucket: a limit that is too generous for a while is better
 * than an outage.
 */
export const createSharedRateLimit = (options: SharedLimitOptions): RateLimit => new SharedRateLimit(options);

class SharedRateLimit implements RateLimit {
  readonly perMinute: number;
  readonly #budget: CommonBudget;
  readonly #patience: number;
  readonly #rule: BudgetRule;
  /** How many calls are taken in advance. */
  readonly #block: number;
  readonly #alone: RateLimit;
  readonly #shares = new BoundedMap<number, Share>(maximumShares);
  #troubleUntil = 0;

  constructor({ perMinute, budget, patience = 250 }: SharedLimitOptions) {
    const onTheWay = Math.floor((perMinute * lifetime) / minute);
    this.perMinute = perMinute;
    this.#budget = budget;
    this.#patience = patience;
    this.#rule = { capacity: perMinute - onTheWay, perMinute };
    this.#block = Math.max(1, onTheWay);
    this.#alone = createRateLimit(perMinute);
  }

  readonly ready = (token: number, from: string, now: Instant): Promise<void> | undefined => {
    if (isLoopback(from) || isAhead(this.#troubleUntil, now)) return undefined;
    const share = shareOf(this.#shares, token);
    if (isAhead(share.emptyUntil, now)) return undefined;
    const own = ownIn(share, now);
    if (own < 1) return this.#wait(token, share, now);
    if (own <= this.#block / 2) void this.#refilled(token, share, now);
    return undefined;
  };

  readonly take = (token: number, from: string, now: Instant): Quota => {
    const { perMinute } = this;
    if (isLoopback(from)) return quotaOf(perMinute, "passes", perMinute, now);
    const share = shareOf(this.#shares, token);
    const passes = takePromised(share) || takeOne(share, now);
    if (!passes && isAhead(this.#troubleUntil, now)) return this.#alone.take(token, from, now);
    // Other nodes may have taken from the common bucket since, so the remaining calls are only what this node knows.
    return quotaOf(perMinute, passes ? "passes" : "refused", ownIn(share, now) + share.common, now);
  };

  /**
   * A running query does not count calls that arrive after it was sent. If it grants too few, they wait for the next
   * one.
   */
  async #wait(token: number, share: Share, now: Instant): Promise<void> {
    share.waiting += 1;
    for (let round = 0; round < 3 && !isAhead(share.emptyUntil, now) && !isAhead(this.#troubleUntil, now); round++) {
      await within(this.#patience, this.#refilled(token, share, now)).catch(() => {
        this.#troubleUntil = now + lookAgain;
      });
      if (takeOne(share, now)) {
        share.promised += 1;
        break;
      }
    }
    share.waiting -= 1;
  }

  #refilled(token: number, share: Share, now: Instant): Promise<void> {
    share.refill ??= this.#refill(token, share, now);
    return share.refill;
  }

  async #refill(token: number, share: Share, now: Instant): Promise<void> {
    try {
      const { granted, left } = await this.#budget.takeCalls(token, Math.max(this.#block, share.waiting), this.#rule);
      if (granted > 0) share.parts.push({ left: granted, until: now + lifetime });
      else share.emptyUntil = now + Math.min(lookAgain, ((1 - left) * minute) / this.perMinute);
      share.common = left;
    } catch {
      this.#troubleUntil = now + lookAgain;
    } finally {
      share.refill = undefined;
    }
  }
}

/** False if `until` is further away than any delay: then the clock was set back. */
const isAhead = (until: Instant, now: Instant): boolean => until > now && until - now <= 2 * lookAgain;

/** What one node holds of a token's calls, and what it knows about the rest. */
type Share = {
  /** Oldest first; each part has its own expiry. */
  readonly parts: { left: number; readonly until: Instant }[];
  /** Reserved for calls that waited and are about to take it. */
  promised: number;
  /** The common bucket at this node's last query. */
  common: number;
  /** The common bucket is empty until then. */
  emptyUntil: Instant;
  waiting: number;
  refill: Promise<void> | undefined;
};

function shareOf(shares: BoundedMap<number, Share>, token: number): Share {
  const known = shares.get(token);
  if (known !== undefined) return known;
  const share: Share = { parts: [], promised: 0, common: 0, emptyUntil: 0, waiting: 0, refill: undefined };
  shares.set(token, share);
  return share;
}

function ownIn({ parts }: Share, now: Instant): number {
  while (parts[0] !== undefined && (parts[0].until <= now || parts[0].left < 1)) parts.shift();
  let own = 0;
  for (const part of parts) own += part.left;
  return own;
}

function takeOne(share: Share, now: Instant): boolean {
  if (ownIn(share, now) < 1) return false;
  const [oldest] = share.parts;
  if (oldest !== undefined) oldest.left -= 1;
  return true;
}

function takePromised(share: Share): boolean {
  if (share.promised < 1) return false;
  share.promised -= 1;
  return true;
}

/** The tokens of a bucket after this many milliseconds. A clock that was set back refills nothing. */
const refilled = (left: number, passed: number, capacity: number, perMillisecond: number): number =>
  Math.min(capacity, left + Math.max(0, passed) * perMillisecond);

export type BucketOptions = {
  /** Tokens per second; a bucket holds as many. */
  readonly perSecond: number;
  /** Holders remembered at a time; their memory is allocated once. */
  readonly slots: number;
  /** `bucketMemory` bytes; shared when several threads count together. */
  readonly memory?: ArrayBuffer | SharedArrayBuffer | undefined;
};

/** Bytes for this number of slots. */
export const bucketMemory = (slots: number): number => 24 * slots;

/**
 * Takes a token of a holder, given by its hash. Returns 0, or how many requests have found the bucket empty since the
 * holder got its slot.
 */
type TakeToken = (holder: number, now: Instant) => number;

/**
 * A bucket of tokens for each holder, in memory of a fixed size. Holders whose hashes share a slot replace each other
 * there, each starting with a full bucket. Threads share the buckets without a lock and may miss each other's update:
 * that lets through a few extra requests. Not a class: every DNS query passes here, and fields instead of constants
 * take 50 ns more.
 */
export function createTokenBuckets(options: BucketOptions): TakeToken {
  const { perSecond, slots, memory = new ArrayBuffer(bucketMemory(slots)) } = options;
  const perMillisecond = perSecond / 1_000;
  const tokens = new Float64Array(memory, 0, slots);
  const times = new Float64Array(memory, 8 * slots, slots);
  const holders = new Uint32Array(memory, 16 * slots, slots);
  const over = new Uint32Array(memory, 20 * slots, slots);
  return (holder, now) => {
    const slot = holder % slots;
    let left = perSecond;
    if (holders[slot] !== holder || times[slot] === 0) {
      holders[slot] = holder;
      over[slot] = 0;
    } else {
      left = refilled(tokens[slot] ?? 0, now - (times[slot] ?? now), perSecond, perMillisecond);
    }
    times[slot] = now;
    const isEmpty = left < 1;
    tokens[slot] = isEmpty ? left : left - 1;
    if (!isEmpty) return 0;
    const count = (over[slot] ?? 0) + 1;
    over[slot] = count;
    return count;
  };
}
