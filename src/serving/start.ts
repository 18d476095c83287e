import { createHash } from "node:crypto";
import type { Network } from "../core/addresses/network.ts";
import { askUdp } from "../lib/dns/ask.ts";
import type { ListenAddress } from "../lib/http/listen.ts";
import { isNews, type ZoneNews } from "../nameserver/answer/zone-source.ts";
import { createDnsCounters } from "../nameserver/metrics/metrics.ts";
import { type Nameserver, type NameserverOptions, startNameserver } from "../nameserver/start.ts";
import type { NotifyTarget } from "../nameserver/transfer/notify-out.ts";
import { Secondaries } from "../nameserver/transfer/secondary-zones.ts";
import type { ServerIdentity } from "../nameserver/wire/edns-options.ts";
import { type Duties, leadAlways } from "../process/duties.ts";
import { closeInReverse, type Opened } from "../process/lifecycle.ts";
import type { Logger } from "../process/log.ts";
import type { RecordStore } from "../records/store/port.ts";
import { isSoa } from "./catalog.ts";
import { notifySecondaries } from "./notify-duty.ts";
import { secondaryPorts, type TlsPrimary } from "./secondaries.ts";
import { peerOf, transferPorts } from "./transfers.ts";
import { type StoreZones, zonesFromStore } from "./zones.ts";

export type DnsOptions = {
  readonly listen: readonly ListenAddress[];
  /** Also over TLS, on these addresses. */
  readonly overTls?: NameserverOptions["overTls"];
  readonly store: RecordStore;
  readonly nameservers: readonly string[];
  /** Where this node remembers what it was asked for, and what it has sent; without it, it forgets when it stops. */
  readonly dataFolder?: string | undefined;
  /** The database may lose changes, so that what was sent has to be remembered. */
  readonly mayLose?: boolean;
  readonly log: Logger;
  readonly transfers?: TransferOptions;
  /** Without it, this is the only node. */
  readonly duties?: Duties;
  /** The name of this server, for clients that ask for it (RFC 5001). */
  readonly nsid?: string | undefined;
  /** Threads that answer over UDP; 0: the main thread does. */
  readonly workers?: number;
  readonly inBatches?: boolean | undefined;
};

/** Transfers to and from other nameservers. */
export type TransferOptions = {
  readonly networks: readonly Network[];
  readonly notify: readonly NotifyTarget[];
  readonly catalog: string | undefined;
  /** Private networks that primary servers may be in. */
  readonly allowedPrimaries: readonly Network[];
  /** Primary servers that are asked over TLS, by their addresses. */
  readonly primariesOverTls?: readonly TlsPrimary[];
};

export type RunningDns = Nameserver & {
  /** The position in the change log that the nameserver has reached. */
  readonly followed: () => number;
} & Pick<StoreZones, "lateSince" | "unsignedSince" | "lostChanges">;

const noTransfers: TransferOptions = { networks: [], notify: [], catalog: undefined, allowedPrimaries: [] };

/** Serves the zones of the record service over DNS, and transfers zones to and from other nameservers. */
export async function startDns(options: DnsOptions): Promise<RunningDns> {
  const { listen, store, nameservers, log, transfers = noTransfers, workers = 0, inBatches } = options;
  const { networks, catalog, allowedPrimaries } = transfers;
  const { duties = leadAlways(log) } = options;
  const counters = createDnsCounters();
  const opened: Opened[] = [];
  try {
    const { dataFolder, mayLose } = options;
    const zones = await zonesFromStore(store, { nameservers, catalog, dataFolder, mayLose, log });
    opened.push({ name: "change log", close: zones.close });
    const secondaries = new Secondaries({
      ports: secondaryPorts(store, allowedPrimaries, transfers.primariesOverTls),
      log,
      now: Date.now,
      random: Math.random,
      refreshes: duties.isLeading,
      counters,
    });
    opened.push({ name: "secondary zones", close: secondaries.close });
    const ports = transferPorts({ store, zones, secondaries, networks, catalog, log });
    const identity = await identityOf(store, options.nsid);
    const source = { listen, overTls: options.overTls, source: zones, log, transfers: ports };
    const nameserver = await startNameserver({ ...source, workers, inBatches, counters, identity });
    opened.push({ name: "nameserver", close: nameserver.close });
    const notifier = {
      targets: transfers.notify,
      peerOf: (target: NotifyTarget) => peerOf(store, target, nameserver.addresses),
      ask: askUdp,
      now: Date.now,
      log,
    };
    const leading = () => {
      secondaries.takeOver();
      return notifySecondaries({ store, zones, catalog, notifier });
    };
    opened.push({ name: "notifier", close: duties.whenLeading(leading) });
    zones.follow((event) => {
      if (isNews(event)) for (const zone of newIn(event)) secondaries.checkSoon(zone);
    });
    const { followed, lateSince, unsignedSince, lostChanges } = zones;
    return { ...nameserver, followed, lateSince, unsignedSince, lostChanges, close: () => closeInReverse(opened, log) };
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}

/** The secret of cookies is the same on all nodes (RFC 9018 section 3). */
async function identityOf(store: RecordStore, nsid: string | undefined): Promise<ServerIdentity> {
  const cookieSecret = createHash("sha256")
    .update(await store.secret("dns-cookies"))
    .digest()
    .subarray(0, 16);
  return { cookieSecret: new Uint8Array(cookieSecret), nsid: nsid === undefined ? undefined : Buffer.from(nsid) };
}

/** Zones that were created or deleted, or may have other primary servers now. */
function newIn(event: ZoneNews): readonly string[] {
  if (event.kind === "lost" || event.kind === "late") return [];
  const isNew = event.kind !== "changed" || event.changes.some((change) => isSoa(change) && change.kind !== "replace");
  return isNew ? [event.zone] : [];
}
