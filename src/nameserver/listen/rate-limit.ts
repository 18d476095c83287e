import { addressBytes, parseIpv6 } from "../../core/addresses/address.ts";
import { isLoopback } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { hashOf } from "../answer/name-filter.ts";

/** What happens to a reply: it is sent, truncated so that a real client retries over TCP, or dropped. */
export type Passage = "send" | "cut" | "drop";

export type RateLimit = (client: string, reply: Buffer, now: Instant) => Passage;

export type RateLimitOptions = {
  /** Replies of one kind to one network per second; a burst may have as many. */
  readonly perSecond: number;
  /** One in this many replies over the limit is truncated instead of dropped. */
  readonly slip: number;
  /** Networks remembered at a time; their memory is allocated once. */
  readonly slots: number;
  /** Any number: makes it hard to guess which networks share a slot. */
  readonly seed: number;
  /** `rateLimitMemory` bytes; shared when several threads count together. */
  readonly memory?: ArrayBuffer | SharedArrayBuffer;
};

export const defaultRateLimit = { perSecond: 500, slip: 2, slots: 32_768 } as const;

/** Bytes for this number of slots. */
export const rateLimitMemory = (slots: number): number => 24 * slots;

/**
 * Prevents moor from being used to flood the spoofed senders of queries: a bucket of tokens for each client network
 * (/24, /56) and kind of reply. Networks whose hashes share a slot replace each other there, each starting with a full bucket.
 * Threads share the buckets without a lock and may miss each other's update: that lets through a few extra replies.
 */
export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { slip } = options;
  const overBy = createBuckets(options);
  return (client, reply, now) => {
    if (isLoopback(client)) return "send";
    const over = overBy(`${networkOf(client)} ${kindOf(reply)}`, now);
    if (over === 0) return "send";
    return slip > 0 && over % slip === 0 ? "cut" : "drop";
  };
}

/** Whether a query is processed at all. */
export type Intake = (client: string, now: Instant) => boolean;

/** Far more queries than a network gets replies to. */
export const defaultIntake = { perSecond: 10 * defaultRateLimit.perSecond, slots: 8_192 } as const;

/** Drops a flood from one network before any work is done for it; each socket has its own limit. */
export function createIntake(options: BucketOptions): Intake {
  const overBy = createBuckets(options);
  return (client, now) => isLoopback(client) || overBy(networkOf(client), now) === 0;
}

type BucketOptions = Pick<RateLimitOptions, "perSecond" | "slots" | "seed" | "memory">;

/** Takes a token from a holder's bucket. Returns 0, or how many requests have found the bucket empty since the holder got its slot. */
function createBuckets({
  perSecond,
  slots,
  seed,
  memory: given,
}: BucketOptions): (holder: string, now: Instant) => number {
  const memory = given ?? new ArrayBuffer(rateLimitMemory(slots));
  const tokens = new Float64Array(memory, 0, slots);
  const times = new Float64Array(memory, 8 * slots, slots);
  const holders = new Uint32Array(memory, 16 * slots, slots);
  const over = new Uint32Array(memory, 20 * slots, slots);
  return (text, now) => {
    const holder = hashOf(text, text.length, seed);
    const slot = holder % slots;
    if (holders[slot] !== holder || times[slot] === 0) {
      holders[slot] = holder;
      tokens[slot] = perSecond;
      over[slot] = 0;
    } else {
      const earned = ((now - (times[slot] ?? now)) * perSecond) / 1_000;
      tokens[slot] = Math.min(perSecond, (tokens[slot] ?? 0) + Math.max(0, earned));
    }
    times[slot] = now;
    if ((tokens[slot] ?? 0) >= 1) {
      tokens[slot] = (tokens[slot] ?? 0) - 1;
      return 0;
    }
    over[slot] = (over[slot] ?? 0) + 1;
    return over[slot] ?? 1;
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
