import { apex } from "../core/name.ts";
import type { Network } from "../core/network.ts";
import { createNotifier, type NotifyTarget } from "../nameserver/notify-out.ts";
import { startSecondaries } from "../nameserver/secondary-zones.ts";
import { type Nameserver, startNameserver } from "../nameserver/start.ts";
import { askUdp } from "../nameserver/transfer-ask.ts";
import { isNews, type ZoneNews } from "../nameserver/zone-source.ts";
import type { ListenAddress } from "../process/listen-address.ts";
import type { Logger } from "../process/log.ts";
import { closeInReverse, type Opened } from "../process/shutdown.ts";
import type { RecordStore } from "../records/store.ts";
import { secondaryPorts } from "./secondaries-from-store.ts";
import { peerOf, transferPorts } from "./transfers-from-store.ts";
import { zonesFromStore } from "./zones-from-store.ts";

export type DnsOptions = {
  readonly listen: readonly ListenAddress[];
  readonly store: RecordStore;
  readonly nameservers: readonly string[];
  readonly log: Logger;
  readonly transfers?: TransferOptions;
};

/** How standard nameservers are fed. */
export type TransferOptions = {
  readonly networks: readonly Network[];
  readonly notify: readonly NotifyTarget[];
  readonly catalog: string | undefined;
};

const noTransfers: TransferOptions = { networks: [], notify: [], catalog: undefined };

/** DNS answers from the record service's own zones, given to other nameservers, and had from them. */
export async function startDns(options: DnsOptions): Promise<Nameserver> {
  const { listen, store, nameservers, log, transfers = noTransfers } = options;
  const { networks, catalog } = transfers;
  const opened: Opened[] = [];
  try {
    const zones = await zonesFromStore(store, { nameservers, catalog, log });
    opened.push({ name: "change log", close: zones.close });
    const expired = (zone: string) => zones.tell({ kind: "replaced", zone });
    const secondaries = startSecondaries({
      ports: secondaryPorts(store, expired),
      log,
      now: Date.now,
      random: Math.random,
    });
    opened.push({ name: "secondary zones", close: secondaries.close });
    const ports = transferPorts({ store, zones, secondaries, networks, catalog, log });
    const nameserver = await startNameserver({ listen, source: zones, log, transfers: ports });
    opened.push({ name: "nameserver", close: nameserver.close });
    const notifier = createNotifier({
      targets: transfers.notify,
      peerOf: (target) => peerOf(store, target, nameserver.addresses),
      ask: askUdp,
      now: Date.now,
      log,
    });
    opened.push({ name: "notices", close: notifier.close });
    zones.follow((event) => {
      if (!isNews(event)) return;
      for (const zone of changedIn(event)) notifier.changed(zone);
      for (const zone of newIn(event)) secondaries.look(zone);
    });
    for (const zone of await recentlyChanged(store, catalog)) notifier.changed(zone);
    return { addresses: nameserver.addresses, close: () => closeInReverse(opened, log) };
  } catch (error) {
    await closeInReverse(opened, log);
    throw error;
  }
}

/** Zones that others must hear of; one that is gone is told of by the catalog. */
function changedIn(event: ZoneNews): readonly string[] {
  if (event.kind === "lost") return [];
  const gone = event.kind === "changed" && event.changes.some((change) => isSoa(change) && change.kind === "delete");
  return gone ? [] : [event.zone];
}

/** Zones that may have become secondary, or have other primary servers. */
function newIn(event: ZoneNews): readonly string[] {
  if (event.kind === "lost") return [];
  const isNew = event.kind === "replaced" || event.changes.some((change) => isSoa(change) && change.kind === "create");
  return isNew ? [event.zone] : [];
}

const isSoa = ({ owner, type }: { readonly owner: string; readonly type: string }): boolean =>
  owner === apex && type === "SOA";

const recentRows = 1_000;

/** Who was told of these before the last stop is not known any more, so all are told again. */
async function recentlyChanged(store: RecordStore, catalog: string | undefined): Promise<ReadonlySet<string>> {
  const rows = await store.changesAfter(Math.max(0, (await store.lastChange()) - recentRows), recentRows);
  return new Set([...(catalog === undefined ? [] : [catalog]), ...rows.map((row) => row.zoneName)]);
}
