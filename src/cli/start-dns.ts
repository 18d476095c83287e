import { type Nameserver, startNameserver } from "../nameserver/start.ts";
import type { ListenAddress } from "../process/http-server.ts";
import type { Logger } from "../process/log.ts";
import type { RecordStore } from "../records/store.ts";
import { zonesFromStore } from "./zones-from-store.ts";

export type DnsOptions = {
  readonly listen: readonly ListenAddress[];
  readonly store: RecordStore;
  readonly nameservers: readonly string[];
  readonly log: Logger;
};

/** DNS answers from the record service's own zones. */
export async function startDns({ listen, store, nameservers, log }: DnsOptions): Promise<Nameserver> {
  const source = await zonesFromStore(store, nameservers, log);
  return await startNameserver({ listen, source, log });
}
