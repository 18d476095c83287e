import { addressBytes, parseIpv6 } from "../../core/addresses/address.ts";
import { isLoopback } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { hashOf } from "../answer/name-filter.ts";
import { type BucketOptions, createTokenBuckets } from "./token-buckets.ts";

/** What happens to a reply: it is sent, truncated so that a real client retries over TCP, or dropped. */
export type ReplyVerdict = "send" | "truncate" | "drop";

export type QueryRateLimit = (client: string, reply: Buffer, now: Instant) => ReplyVerdict;

/** `perSecond`: replies of one kind to one network. */
export type RateLimitOptions = QueryLimitOptions & {
  /** One in this many replies over the limit is truncated instead of dropped. */
  readonly slip: number;
};

type QueryLimitOptions = BucketOptions & {
  /** Any number: makes it hard to guess which networks share a slot. */
  readonly seed: number;
};

export const defaultRateLimit = { perSecond: 500, slip: 2, slots: 32_768 } as const;

/**
 * Prevents moor from being used to flood the spoofed senders of queries: a bucket of tokens for each client network
 * (/24, /56) and kind of reply.
 */
export function createRateLimit(options: RateLimitOptions): QueryRateLimit {
  const { slip, seed } = options;
  const take = createTokenBuckets(options);
  return (client, reply, now) => {
    if (isLoopback(client)) return "send";
    const holder = `${networkOf(client)} ${kindOf(reply)}`;
    const over = take(hashOf(holder, holder.length, seed), now);
    if (over === 0) return "send";
    return slip > 0 && over % slip === 0 ? "truncate" : "drop";
  };
}

/** Whether a query is processed at all. */
export type QueryLimit = (client: string, now: Instant) => boolean;

/** Far more queries than a network gets replies to. */
export const defaultQueryLimit = { perSecond: 10 * defaultRateLimit.perSecond, slots: 8_192 } as const;

/** Drops a flood from one network before any work is done for it; each socket has its own limit. */
export function createQueryLimit(options: QueryLimitOptions): QueryLimit {
  const take = createTokenBuckets(options);
  return (client, now) => {
    if (isLoopback(client)) return true;
    const network = networkOf(client);
    return take(hashOf(network, network.length, options.seed), now) === 0;
  };
}

/** Roughly the block that a provider assigns to one customer: an IPv4 /24, an IPv6 /56. */
export function networkOf(client: string): string {
  if (client.includes(".")) return client.slice(client.lastIndexOf(":") + 1, client.lastIndexOf("."));
  const address = parseIpv6(client.split("%")[0] ?? "");
  return address ? addressBytes(address).subarray(0, 7).join(":") : client;
}

/** The response code, and whether there are answers: a flood repeats one kind, while a real client also gets others. */
const kindOf = (reply: Buffer): string =>
  `${(reply[3] ?? 0) & 0xf}${(reply[6] ?? 0) | (reply[7] ?? 0) ? "answer" : "none"}`;
