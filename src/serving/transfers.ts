import { isIPv6 } from "node:net";
import { parseAddress } from "../core/addresses/address.ts";
import type { Network } from "../core/addresses/network.ts";
import { comesFrom } from "../core/addresses/peer-address.ts";
import { may } from "../core/may.ts";
import type { Peer } from "../lib/dns/ask.ts";
import type { TsigKey } from "../lib/dns/tsig.ts";
import type { ListenAddress } from "../lib/http/listen.ts";
import type { TransferClient, TransferPorts, UpdateOutcome } from "../nameserver/transfer/dispatch.ts";
import type { NotifyTarget } from "../nameserver/transfer/notify-out.ts";
import type { Secondaries } from "../nameserver/transfer/secondary-zones.ts";
import type { Logger } from "../process/log.ts";
import { type DnsUpdated, updateFromDns } from "../records/commands/from-dns-update.ts";
import type { TransferKey } from "../records/model.ts";
import type { RecordStore } from "../records/store/port.ts";
import { keyOfZone } from "./secondaries.ts";
import type { StoreZones } from "./zones.ts";

export type TransferSetup = {
  readonly store: RecordStore;
  readonly zones: StoreZones;
  readonly secondaries: Secondaries;
  /** Networks that may transfer every zone without a key. */
  readonly networks: readonly Network[];
  readonly catalog: string | undefined;
  readonly log: Logger;
};

/** Connects transfers, NOTIFY messages and updates to the store. */
export function transferPorts({ store, zones, secondaries, networks, catalog, log }: TransferSetup): TransferPorts {
  let version = 0;
  store.onAccessChange(() => {
    version += 1;
  });
  return {
    accessVersion: () => version,
    keyNamed: (name) => keyNamed(store, name),
    mayTransfer: async (zone, { from, key: name }) => {
      if (comesFrom(from, networks)) return true;
      const key = name === undefined ? undefined : await store.transferKey(name);
      return key !== undefined && (await opens(store, key, zone, { from, catalog }));
    },
    changesBetween: zones.changesBetween,
    notified: (zone, client) => secondaries.notified(zone, client),
    update: async (request, { key: name, from }, signature) => {
      const key = name === undefined ? undefined : await store.transferKey(name);
      if (key === undefined) return "refused";
      const updated = await updateFromDns(store, { ...request, key, from, signature, now: Date.now() });
      logRefusal(updated, request.zone, { key: name, from }, log);
      return outcomeOf(updated);
    },
    restrictedZone: catalog,
  };
}

/** The server to send a NOTIFY to; undefined when its key is not known. */
export async function peerOf(
  store: RecordStore,
  { host, port, keyName }: NotifyTarget,
  listen: readonly ListenAddress[],
): Promise<Peer | undefined> {
  const key = keyName === undefined ? undefined : await keyNamed(store, keyName);
  if (keyName !== undefined && key === undefined) return undefined;
  // Secondaries accept a NOTIFY only from the address that they know as their primary's.
  const own = listen.find(
    (at) => isIPv6(at.host) === isIPv6(host) && parseAddress(at.host) && !unspecified.has(at.host),
  );
  return { host, port, key, from: own?.host };
}

const unspecified = new Set(["0.0.0.0", "::"]);

async function keyNamed(store: RecordStore, name: string): Promise<TsigKey | undefined> {
  const key = await store.transferKey(name);
  if (key === undefined) return await keyOfZone(store, name);
  return { name, algorithm: key.algorithm, secret: Buffer.from(key.secret, "base64") };
}

/** The catalog names all zones, so only a key for all zones may transfer it. */
async function opens(
  store: RecordStore,
  { scope, account }: TransferKey,
  zone: string,
  { from, catalog }: { readonly from: string; readonly catalog: string | undefined },
): Promise<boolean> {
  if (scope.sets !== undefined || may(scope, { kind: "read-zone", zone, from, now: Date.now() }).kind === "no")
    return false;
  if (account === undefined) return zone !== catalog || scope.zones === undefined;
  return (await store.zoneNamed(zone))?.account === account;
}

function outcomeOf(updated: DnsUpdated): UpdateOutcome {
  switch (updated.kind) {
    case "done":
    case "not-ours":
      return updated.kind;
    case "denied":
    case "refused":
      return "refused";
    case "unmet":
      return updated.what;
  }
}

/** The reply contains only a response code; the reason goes to the log. */
function logRefusal(updated: DnsUpdated, zone: string, client: TransferClient, log: Logger): void {
  if (updated.kind === "denied")
    log.warn({ zone, ...client }, "an update was refused: its key does not allow these changes");
  if (updated.kind !== "refused") return;
  log.warn({ zone, ...client, because: updated.faults.map((fault) => fault.message) }, "an update was refused");
}
