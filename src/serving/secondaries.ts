import { parseAddress } from "../core/addresses/address.ts";
import type { Network } from "../core/addresses/network.ts";
import { unmapped } from "../core/addresses/peer-address.ts";
import { primaryFaults } from "../core/addresses/primary-address.ts";
import type { Instant } from "../core/instant.ts";
import { timersIn } from "../core/records/soa-timers.ts";
import { faultInWords } from "../core/result.ts";
import type { Peer } from "../lib/dns/ask.ts";
import { isTsigAlgorithm, type TsigKey } from "../lib/dns/tsig.ts";
import type { PeerTls } from "../lib/tls/tls-peer.ts";
import type { SecondaryZone } from "../nameserver/transfer/secondary-refresh.ts";
import type { SecondaryPorts } from "../nameserver/transfer/secondary-zones.ts";
import { storeTransfer } from "../records/commands/from-transfer.ts";
import type { PrimaryServer, Zone } from "../records/model.ts";
import { expiryOf } from "../records/queries/status.ts";
import type { RecordStore } from "../records/store/port.ts";

/** A primary server that is asked over TLS, on this port, whatever port its zones give. */
export type TlsPrimary = { readonly host: string; readonly port: number } & PeerTls;

/** Keeps secondary zones in the store. */
export function secondaryPorts(
  store: RecordStore,
  allowedPrimaries: readonly Network[],
  overTls: readonly TlsPrimary[] = [],
): SecondaryPorts {
  const zoneNamed = async (name: string): Promise<Zone | undefined> => {
    const zone = await store.zoneNamed(name);
    return zone?.settings.mode === "secondary" ? zone : undefined;
  };
  return {
    list: async () => (await store.secondaryZones()).map((zone) => zone.name),
    secondaryZone: async (name) => {
      const zone = await zoneNamed(name);
      return zone && (await toSecondary(store, zone, { allowedPrimaries, overTls }));
    },
    store: async (name, content) => {
      const zone = await zoneNamed(name);
      if (zone === undefined) return "does-not-fit";
      const stored = await storeTransfer(store, zone, content, Date.now());
      if (stored.kind === "refused") throw new Error(stored.faults.map((fault) => fault.message).join("; "));
      if (stored.kind === "does-not-fit") return stored.kind;
      await store.noteSecondary(zone, { checked: Date.now(), serial: content.serial });
      return "done";
    },
    checked: async (name, serial) => {
      const zone = await zoneNamed(name);
      if (zone) await store.noteSecondary(zone, { checked: Date.now(), serial });
    },
  };
}

/** When a secondary zone expires; undefined when it has never been transferred. */
export async function answerableUntil(store: RecordStore, zone: Zone): Promise<Instant | undefined> {
  const state = (await store.secondaryStates([zone])).get(zone.number);
  return state && expiryOf(state);
}

/** The key of the zone's primary server, for keys that are named after their zone; see `keyOf`. */
export async function keyOfZone(store: RecordStore, name: string): Promise<TsigKey | undefined> {
  const zone = await store.zoneNamed(name);
  const server = zone?.settings.primaries.find((each) => each.tsig);
  return server && (await keyOf(store, name, server));
}

/**
 * Checks the primaries again: the zone may have been stored before they were checked, or by a node that allows others.
 */
async function toSecondary(
  store: RecordStore,
  zone: Zone,
  {
    allowedPrimaries,
    overTls,
  }: { readonly allowedPrimaries: readonly Network[]; readonly overTls: readonly TlsPrimary[] },
): Promise<SecondaryZone> {
  const { name, account, settings, serial } = zone;
  const refusals = settings.primaries.map((server) => refusalOf(server, allowedPrimaries));
  const permitted = settings.primaries.filter((_, i) => refusals[i] === undefined);
  const [states, primaries] = await Promise.all([
    store.secondaryStates([zone]),
    Promise.all(permitted.map((server) => toPeer(store, name, server, overTls))),
  ]);
  const common = { name, account, primaries, refused: refusals.filter((each) => each !== undefined) };
  const state = states.get(zone.number);
  if (state === undefined) return { ...common, current: undefined, timers: undefined, checked: undefined };
  const current = state.serial === serial ? { serial, soa: state.soa } : undefined;
  return { ...common, current, timers: timersIn(state.soa), checked: state.checked };
}

function refusalOf({ address: text }: PrimaryServer, allowed: readonly Network[]): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return `${text} is not an IP address`;
  const [fault] = primaryFaults(address, "", allowed);
  return fault && faultInWords(fault);
}

async function toPeer(
  store: RecordStore,
  zone: string,
  server: PrimaryServer,
  overTls: readonly TlsPrimary[],
): Promise<Peer> {
  const [host, key] = [unmapped(server.address), await keyOf(store, zone, server)];
  const tls = overTls.find((each) => each.host === host);
  return tls ? { host, port: tls.port, key, tls: { pin: tls.pin } } : { host, port: server.port, key };
}

/**
 * In the APIs, a primary server has an algorithm and a secret, but TSIG also needs a key name that both sides agree on:
 * that of the transfer key with this secret, or else the name of the zone.
 */
async function keyOf(store: RecordStore, zone: string, { tsig }: PrimaryServer): Promise<TsigKey | undefined> {
  if (tsig === undefined) return undefined;
  const algorithm = tsig.algorithm === "hmac-md5" ? "hmac-md5.sig-alg.reg.int" : tsig.algorithm;
  if (!isTsigAlgorithm(algorithm)) throw new Error(`unknown TSIG algorithm ${tsig.algorithm}`);
  const storedKey = (await store.transferKeys()).find((key) => key.secret === tsig.key && key.algorithm === algorithm);
  return { name: storedKey?.name ?? zone, algorithm, secret: Buffer.from(tsig.key, "base64") };
}
