import { isLoopback } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { within } from "../../process/within.ts";
import { BoundedMap } from "./bounded-map.ts";
import { createRateLimit, type Quota, quotaOf, type RateLimit } from "./rate-limit.ts";

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

const minute = 60_000;
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
export class SharedRateLimit implements RateLimit {
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
    if (isLoopback(from) || isInFuture(this.#troubleUntil, now)) return undefined;
    const share = shareOf(this.#shares, token);
    if (isInFuture(share.emptyUntil, now)) return undefined;
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
    if (!passes && isInFuture(this.#troubleUntil, now)) return this.#alone.take(token, from, now);
    // Other nodes may have taken from the common bucket since, so the remaining calls are only what this node knows.
    return quotaOf(perMinute, passes ? "passes" : "refused", ownIn(share, now) + share.common, now);
  };

  /**
   * A running query does not count calls that arrive after it was sent. If it grants too few, they wait for the next
   * one.
   */
  async #wait(token: number, share: Share, now: Instant): Promise<void> {
    share.waiting += 1;
    for (
      let round = 0;
      round < 3 && !isInFuture(share.emptyUntil, now) && !isInFuture(this.#troubleUntil, now);
      round++
    ) {
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
const isInFuture = (until: Instant, now: Instant): boolean => until > now && until - now <= 2 * lookAgain;

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
  const ownShare = shares.get(token);
  if (ownShare !== undefined) return ownShare;
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
