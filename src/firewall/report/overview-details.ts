import type { OverviewRow } from "./overview.ts";

/** One row of the overview as a table of the original's pages: the counters beside the rest, each with its label. */
export function detailsOf({ statistics, ...row }: OverviewRow): Readonly<Record<string, object>> {
  // Both have flags: those of the report are words.
  const cells = { ...row, ...(statistics as object | undefined), flags: row.flags };
  return Object.fromEntries(
    Object.entries(cells).map(([name, value]) => [name, { value, translation: labels[name] ?? labelOf(name) }]),
  );
}

/** Where the label is more than the key with its first letters raised. */
const labels: Readonly<Record<string, string>> = {
  is_physical: "Physical",
  ipv4: "IPv4 Addresses",
  ipv6: "IPv6 Addresses",
  macaddr: "MAC Address",
  media_raw: "Media (Raw)",
  laggproto: "LAGG Protocol",
  lagghash: "LAGG Hash",
  vlan: "VLAN details",
  vlan_tag: "VLAN Tag",
};

/** The original has no label for the others, and shows the key. */
const plain = new Set(["addr4", "addr6", "macaddr_hw", "mtu", "nd6", "laggport", "members"]);

const labelOf = (name: string): string =>
  plain.has(name) ? name : name.replace(/(?:^|[ _])[a-z]/g, (start) => start.replace("_", " ").toUpperCase());
