import { describe, type FirewallConfig } from "./config.ts";
import type { Counters, KernelRow } from "./kernel-row.ts";
import type { Snapshot } from "./snapshot.ts";

const count = (counters: Counters | undefined, name: string): number => {
  const value = counters?.[name];
  return typeof value === "number" ? value : 0;
};

/** As the overview shows them: texts, under names with blanks. */
export function countersOf({ ifname, ifindex, stats64, mtu }: KernelRow): Readonly<Record<string, string>> {
  const { rx, tx } = stats64 ?? {};
  return {
    device: ifname,
    index: String(ifindex ?? 0),
    mtu: String(mtu ?? 0),
    "packets received": String(count(rx, "packets")),
    "bytes received": String(count(rx, "bytes")),
    "input errors": String(count(rx, "errors")),
    "input queue drops": String(count(rx, "dropped")),
    "multicasts received": String(count(rx, "multicast")),
    "packets transmitted": String(count(tx, "packets")),
    "bytes transmitted": String(count(tx, "bytes")),
    "output errors": String(count(tx, "errors")),
    "send queue drops": String(count(tx, "dropped")),
    collisions: String(count(tx, "collisions")),
  };
}

/** `[WAN] (ppp0) / 203.0.113.7` to what was counted: one entry for the device, one for each of its addresses. */
export function statisticsOf({ rows, report }: Snapshot, config: FirewallConfig): ReadonlyMap<string, object> {
  return new Map(
    rows.flatMap((row) => {
      const device = report.get(row.ifname);
      if (device === undefined) return [];
      const counted = netstatCounters(row);
      const head = `[${describe(config, row.ifname, device.flags)}] (${row.ifname})`;
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
