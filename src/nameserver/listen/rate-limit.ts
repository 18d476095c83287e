import type { Instant } from "../../core/instant.ts";
import { type Client, mixed } from "./client.ts";
import { type BucketOptions, createTokenBuckets } from "./token-buckets.ts";

/** What happens to a reply: it is sent, truncated so that a real client retries over TCP, or dropped. */
export type ReplyVerdict = "send" | "truncate" | "drop";

/** `kind` is that of the reply (`replyKindOf`). */
export type QueryRateLimit = (client: LimitedClient, kind: number, now: Instant) => ReplyVerdict;

export type LimitedClient = Pick<Client, "network" | "isLocal">;

/** `perSecond`: replies of one kind to one network. */
export type RateLimitOptions = BucketOptions & {
  /** One in this many replies over the limit is truncated instead of dropped. */
  readonly slip: number;
};

export const defaultRateLimit = { perSecond: 500, slip: 2, slots: 32_768 } as const;

/**
 * Prevents moor from being used to flood the spoofed senders of queries: a bucket of tokens for each client network
 * (/24, /56) and kind of reply.
 */
export function createRateLimit(options: RateLimitOptions): QueryRateLimit {
  const { slip } = options;
  const take = createTokenBuckets(options);
  return ({ network, isLocal }, kind, now) => {
    if (isLocal) return "send";
    const over = take(mixed(network ^ Math.imul(kind + 1, 0x9e3779b1)), now);
    if (over === 0) return "send";
    return slip > 0 && over % slip === 0 ? "truncate" : "drop";
  };
}

/** Whether a query is processed at all. */
export type QueryLimit = (client: LimitedClient, now: Instant) => boolean;

/** Far more queries than a network gets replies to. */
export const defaultQueryLimit = { perSecond: 10 * defaultRateLimit.perSecond, slots: 8_192 } as const;

/** Drops a flood from one network before any work is done for it; each socket has its own limit. */
export function createQueryLimit(options: BucketOptions): QueryLimit {
  const take = createTokenBuckets(options);
  return ({ network, isLocal }, now) => isLocal || take(network, now) === 0;
}

/** The response code, and whether there are answers: a flood repeats one kind, while a real client also gets others. */
export const replyKindOf = (reply: Uint8Array): number =>
  (((reply[3] ?? 0) & 0xf) << 1) | (((reply[6] ?? 0) | (reply[7] ?? 0)) === 0 ? 0 : 1);
