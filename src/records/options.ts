import type { Network } from "../core/addresses/network.ts";
import type { Instant } from "../core/instant.ts";
import type { TokenBudgets } from "./front/open-accounts.ts";
import type { Signer } from "./signing/signer.ts";
import type { RecordStore } from "./store/port.ts";

/** The nameservers of new zones until an operator configures some. No zone has such a name. */
export const placeholderNameservers = ["ns1.moor.invalid", "ns2.moor.invalid", "ns3.moor.invalid"] as const;

export type RecordServiceOptions = {
  readonly store: RecordStore;
  readonly now: () => Instant;
  /** Names of the servers that publish the zones, without a trailing dot; the first one is in each SOA. */
  readonly nameservers: readonly [string, ...string[]];
  /** The names under which clients reach this service. Only the operator's account may have zones around them. */
  readonly serviceNames?: readonly string[];
  /** The name of the catalog zone, which no account may have. */
  readonly catalog?: string | undefined;
  /** The mailbox in each SOA, as a name without a trailing dot; absent: hostmaster at the first nameserver. */
  readonly hostmaster?: string | undefined;
  /** Non-public addresses that may be primary servers of secondary zones. */
  readonly allowedPrimaries?: readonly Network[] | undefined;
  /** Values that new zones may have in one set; absent: the usual number. Other writes learn it from the store. */
  readonly mostValues?: number | undefined;
  /** How many providers an account may have; absent: the usual number. */
  readonly mostProviders?: number | undefined;
  /** The most records of a zone: of a larger file, the rest is not read. Absent: no limit. */
  readonly mostRecords?: number | undefined;
  /**
   * Milliseconds after which a long write is answered with a running action; absent: five seconds. Infinite for
   * commands, which wait.
   */
  readonly answerAfter?: number;
  /** Absent: zones can be signed only by `moor dnssec`. */
  readonly signer?: Signer;
  /** What providers still allow the tokens of this process. */
  readonly budgets?: TokenBudgets;
};

export type Publisher = Pick<RecordServiceOptions, "nameservers" | "hostmaster">;
