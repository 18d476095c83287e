import { describe, type FirewallConfig, identify } from "./config.ts";
import type { Counters, KernelRow } from "./kernel-row.ts";
import type { Snapshot } from "./snapshot.ts";

const count = (counters: Counters | undefined, name: string): number => {
  const value = counters?.[name];
  return typeof value === "number" ? value : 0;
};

/** As the overview shows them: texts, under names with blanks. */
export function countersOf(row: KernelRow): Readonly<Record<string, string>> {
  const { ifname, ifindex, stats64, mtu, details } = row;
  const { rx, tx } = stats64 ?? {};
  return {
    device: ifname,
    index: String(ifindex ?? 0),
    "link state": linkState(row),
    mtu: String(mtu ?? 0),
    ...(details?.speed !== undefined && { "line rate": `${details.speed * 1_000_000} bit/s` }),
    "packets received": String(count(rx, "packets")),
    "bytes received": String(count(rx, "bytes")),
    "input errors": String(count(rx, "errors")),
    "input queue drops": String(count(rx, "dropped")),
    "multicasts received": String(count(rx, "multicast")),
    "packets transmitted": String(count(tx, "packets")),
    "bytes transmitted": String(count(tx, "bytes")),
    "output errors": String(count(tx, "errors")),
    "send queue drops": String(count(tx, "dropped")),
    // Linux does not count these. Exporters want a number here, and drop all interfaces when there is none.
    "multicasts transmitted": "0",
    collisions: String(count(tx, "collisions")),
  };
}

/** FreeBSD's numbers: 2 is up, 1 down, and 0 a device that has no carrier to lose. */
function linkState({ link_type, flags }: KernelRow): string {
  if (link_type !== "ether") return "0";
  return flags.includes("LOWER_UP") ? "2" : "1";
}

/** By identifier: the counters of each device, and what people call it. */
export const trafficOf = (snapshot: Snapshot, config: FirewallConfig): ReadonlyMap<string, object> =>
  new Map(
    reportedRows(snapshot, config).map(({ row, name }) => [identify(config, row.ifname), { ...countersOf(row), name }]),
  );

/** `[WAN] (ppp0) / 203.0.113.7` to what was counted: one entry for the device, one for each of its addresses. */
export function statisticsOf(snapshot: Snapshot, config: FirewallConfig): ReadonlyMap<string, object> {
  return new Map(
    reportedRows(snapshot, config).flatMap(({ row, device, name }) => {
      const counted = netstatCounters(row);
      const head = `[${name}] (${row.ifname})`;
      const entry = (network: string, address: string): [string, object] => [
        `${head} / ${address}`,
        { name: row.ifname, flags: device.flags.join(","), network, address, ...counted },
      ];
      return [
        entry(`<Link#${row.ifindex ?? 0}>`, device.macaddr),
        ...[...device.ipv4, ...device.ipv6].map(({ ipaddr, subnetbits }) => entry(`${ipaddr}/${subnetbits}`, ipaddr)),
      ];
    }),
  );
}

/** The devices that are reported, with what people call them. */
const reportedRows = ({ rows, report }: Snapshot, config: FirewallConfig) =>
  rows.flatMap((row) => {
    const device = report.get(row.ifname);
    return device === undefined ? [] : [{ row, device, name: describe(config, row.ifname, device.flags) }];
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
