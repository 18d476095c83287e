import type { ConsoleTraffic } from "../../contract/console-firewall.ts";
import type { Counters, KernelRow } from "../../lib/kernel/row.ts";
import { describe, type FirewallConfig, identify } from "../config.ts";
import type { Snapshot } from "./report.ts";
import type { Route } from "./routes.ts";

const count = (counters: Counters | undefined, name: string): number => {
  const value = counters?.[name];
  return typeof value === "number" ? value : 0;
};

/**
 * Counters as in the overview: texts, under names with spaces, and all that OPNsense has. Some clients fail if a key is
 * missing, others drop all interfaces if a number is: what Linux does not provide is 0.
 */
export function countersOf(row: KernelRow, flags: readonly string[]): Readonly<Record<string, string>> {
  const { ifname, ifindex, stats64, mtu, txqlen, promiscuity, details } = row;
  const { rx, tx } = stats64 ?? {};
  return {
    device: ifname,
    driver: ifname,
    index: String(ifindex ?? 0),
    flags: flagBits(flags),
    "promiscuous listeners": String(promiscuity ?? 0),
    "send queue length": "0",
    "send queue max length": String(txqlen ?? 0),
    "send queue drops": String(count(tx, "dropped")),
    ...linkLayer(row),
    "link state": linkState(row),
    vhid: "0",
    // The size of FreeBSD's own structure.
    datalen: "152",
    mtu: String(mtu ?? 0),
    metric: "0",
    "line rate": `${(details?.speed ?? 0) * 1_000_000} bit/s`,
    "packets received": String(count(rx, "packets")),
    "input errors": String(count(rx, "errors")),
    "packets transmitted": String(count(tx, "packets")),
    "output errors": String(count(tx, "errors")),
    collisions: String(count(tx, "collisions")),
    "bytes received": String(count(rx, "bytes")),
    "bytes transmitted": String(count(tx, "bytes")),
    "multicasts received": String(count(rx, "multicast")),
    "multicasts transmitted": "0",
    "input queue drops": String(count(rx, "dropped")),
    "packets for unknown protocol": String(count(rx, "nohandler")),
    "HW offload capabilities": "0x0",
    "uptime at attach or stat reset": "0",
  };
}

/** FreeBSD's bits, in hexadecimal. */
const bits: Readonly<Record<string, number>> = {
  up: 0x1,
  broadcast: 0x2,
  loopback: 0x8,
  pointopoint: 0x10,
  running: 0x40,
  noarp: 0x80,
  promisc: 0x100,
  allmulti: 0x200,
  multicast: 0x8000,
};
const flagBits = (flags: readonly string[]): string =>
  flags.reduce((sum, flag) => sum + (bits[flag] ?? 0), 0).toString(16);

function linkLayer({ link_type = "" }: KernelRow) {
  const ethernet = link_type === "ether";
  const types: Readonly<Record<string, string>> = { ether: "Ethernet", loopback: "Loopback", ppp: "PPP" };
  return {
    type: types[link_type] ?? "Other",
    "address length": ethernet ? "6" : "0",
    "header length": ethernet ? "14" : "0",
  };
}

/** FreeBSD's numbers: 2 is up, 1 is down, 0 is unknown. */
function linkState({ link_type, flags }: KernelRow): string {
  if (link_type !== "ether") return "0";
  return flags.includes("LOWER_UP") ? "2" : "1";
}

/** The counters and description of each device, by identifier. */
export const trafficOf = (snapshot: Snapshot, config: FirewallConfig): ReadonlyMap<string, object> =>
  new Map(
    reportedRows(snapshot, config).map(({ row, device, name }) => [
      identify(config, row.ifname),
      { ...countersOf(row, device.flags), name },
    ]),
  );

/** Counters by keys such as `[WAN] (ppp0) / 203.0.113.7`: one entry for the device, one for each of its addresses. */
export function statisticsOf(snapshot: Snapshot, config: FirewallConfig): ReadonlyMap<string, object> {
  return new Map(
    reportedRows(snapshot, config).flatMap(({ row, device, name }) => {
      const counted = netstatCounters(row);
      const head = `[${name}] (${row.ifname})`;
      const entry = (network: string, address: string): [string, object] => [
        `${head} / ${address}`,
        { name: row.ifname, flags: `0x${flagBits(device.flags)}`, network, address, ...counted },
      ];
      return [
        entry(`<Link#${row.ifindex ?? 0}>`, device.macaddr),
        ...[...device.ipv4, ...device.ipv6].map(({ ipaddr, subnetbits }) => entry(`${ipaddr}/${subnetbits}`, ipaddr)),
      ];
    }),
  );
}

/** The reported devices, with their descriptions. */
const reportedRows = ({ rows, report }: Snapshot, config: FirewallConfig) =>
  rows.flatMap((row) => {
    const device = report.get(row.ifname);
    return device === undefined ? [] : [{ row, device, name: describe(config, row.ifname, device.flags) }];
  });

/** For the graphs of the pages. */
export const consoleTraffic = ({ rows, takenAt }: Snapshot, defaultRoutes: readonly Route[]): ConsoleTraffic => ({
  at: takenAt,
  devices: Object.fromEntries(
    rows.map(({ ifname, stats64 }) => [
      ifname,
      { received: count(stats64?.rx, "bytes"), sent: count(stats64?.tx, "bytes") },
    ]),
  ),
  defaultRoutes: [...new Set(defaultRoutes.map(({ dev }) => dev))].filter((dev) =>
    rows.some(({ ifname }) => ifname === dev),
  ),
});

const netstatCounters = ({ stats64 }: KernelRow) => ({
  "received-packets": count(stats64?.rx, "packets"),
  "received-errors": count(stats64?.rx, "errors"),
  "dropped-packets": count(stats64?.rx, "dropped"),
  "received-bytes": count(stats64?.rx, "bytes"),
  "sent-packets": count(stats64?.tx, "packets"),
  "send-errors": count(stats64?.tx, "errors"),
  "sent-bytes": count(stats64?.tx, "bytes"),
  collisions: count(stats64?.tx, "collisions"),
});
