import type { Network } from "../../core/addresses/network.ts";
import type { Instant } from "../../core/instant.ts";
import type { RecordStore } from "../store/port.ts";

export type RecordServiceOptions = {
  readonly store: RecordStore;
  readonly now: () => Instant;
  /** Names of the servers that publish the zones, without a dot at the end; the first one stands in each SOA. */
  readonly nameservers: readonly [string, ...string[]];
  /** The mailbox in each SOA, as a name without a dot at the end; absent: hostmaster at the first name server. */
  readonly hostmaster?: string | undefined;
  /** Addresses that are not on the internet and may be primary servers of secondary zones all the same. */
  readonly allowedPrimaries?: readonly Network[] | undefined;
};

export type Publisher = Pick<RecordServiceOptions, "nameservers" | "hostmaster">;
