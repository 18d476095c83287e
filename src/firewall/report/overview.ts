import type { WireInterface, WireIpv6 } from "../../contract/interfaces.ts";
import type { KernelRow } from "../../lib/kernel/row.ts";
import { describe, type FirewallConfig, identify } from "../config.ts";
import { countersOf } from "./counters.ts";
import type { Snapshot } from "./report.ts";
import type { Route } from "./routes.ts";

/** One row of the overview: the report's keys, with addresses as `address/prefix`, and the administrator's settings. */
export type OverviewRow = Readonly<Record<string, unknown>>;

/** What to include besides the report itself. */
export type OverviewOptions = {
  readonly statistics: boolean;
  readonly routes: readonly Route[];
  /** Identifies a machine without network cards. */
  readonly machineAddress: string;
};

export function overviewOf(
  { rows, report }: Snapshot,
  config: FirewallConfig,
  options: OverviewOptions,
): OverviewRow[] {
  const standIn = standInOf([...report.values()]);
  return [...report].map(([name, device]) => {
    const row = rows.find(({ ifname }) => ifname === name);
    const shown = overviewRow(device, row, config, options);
    return device === standIn ? { ...shown, is_physical: true, macaddr_hw: options.machineAddress } : shown;
  });
}

/**
 * Home Assistant identifies a firewall by the hardware address of a card, and refuses one that has none. Virtual
 * devices may get a new address at every start, so the first of them is shown as a card with the machine's own.
 */
function standInOf(devices: readonly WireInterface[]): WireInterface | undefined {
  if (devices.some(({ is_physical }) => is_physical !== false)) return undefined;
  const isEthernet = ({ macaddr_hw }: WireInterface): boolean => macaddr_hw !== undefined;
  return devices.find(isEthernet) ?? devices.find(({ flags }) => !flags.includes("loopback")) ?? devices[0];
}

function overviewRow(
  { ipv4, ipv6, ...device }: WireInterface,
  row: KernelRow | undefined,
  config: FirewallConfig,
  { statistics, routes }: OverviewOptions,
): OverviewRow {
  const name = device.device;
  return {
    ...device,
    status: stateOf(device.flags),
    identifier: identify(config, name),
    description: describe(config, name, device.flags),
    enabled: device.flags.includes("up"),
    link_type: linkTypeOf(row),
    addr4: withPrefix(ipv4[0]),
    addr6: withPrefix(primaryIpv6(ipv6)),
    // A family without addresses has no key.
    ...(ipv4.length > 0 && { ipv4: ipv4.map((each) => ({ ipaddr: withPrefix(each) })) }),
    ...(ipv6.length > 0 && { ipv6: ipv6.map((each) => ({ ipaddr: withPrefix(each) })) }),
    vlan_tag: device.vlan?.tag ?? null,
    gateways: routes.flatMap(({ dev, gateway }) => (dev === name && gateway !== undefined ? [gateway] : [])),
    routes: [],
    ...(statistics && row && { statistics: countersOf(row, device.flags) }),
  };
}

function stateOf(flags: readonly string[]): string {
  if (!flags.includes("up")) return "down";
  return flags.includes("running") ? "up" : "no carrier";
}

/** How the device got its address, as far as the kernel knows. */
function linkTypeOf(row: KernelRow | undefined): string {
  const first = row?.addr_info.find(({ family }) => family === "inet");
  if (row?.link_type === "ppp") return "pppoe";
  if (first === undefined) return "none";
  return first.valid_life_time === undefined || first.valid_life_time === 0xffffffff ? "static" : "dhcp";
}

const withPrefix = (address: { readonly ipaddr: string; readonly subnetbits: number } | undefined): string =>
  address === undefined ? "" : `${address.ipaddr}/${address.subnetbits}`;

/**
 * OPNsense's own choice. Of the usable addresses, global before local (fc00::/7), it is the first; or, of those before
 * the first without a lifetime, the one with the longest lifetime.
 */
function primaryIpv6(addresses: readonly WireIpv6[]): WireIpv6 | undefined {
  const usable = addresses.filter(
    (each) => !each["link-local"] && each.deprecated !== true && each.tentative !== true && each.ipaddr !== "::1",
  );
  const ordered = usable.toSorted((a, b) => Number(isUniqueLocal(a.ipaddr)) - Number(isUniqueLocal(b.ipaddr)));
  let best = ordered[0];
  for (const each of ordered) {
    if (Number(each.vltime ?? 0) === 0) break;
    if (best === undefined || Number(each.vltime) > Number(best.vltime)) best = each;
  }
  return best;
}

const isUniqueLocal = (text: string): boolean => /^f[cd]/i.test(text);

/** One row of the overview as a table on OPNsense's pages: all values and counters, each with its label. */
export function detailsOf({ statistics, ...row }: OverviewRow): Readonly<Record<string, object>> {
  // Row and counters both have `flags`; those of the row are words.
  const cells = { ...row, ...(statistics as object | undefined), flags: row.flags };
  return Object.fromEntries(
    Object.entries(cells).map(([name, value]) => [name, { value, translation: labels[name] ?? labelOf(name) }]),
  );
}

/** Labels that differ from the capitalised key. */
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

/** OPNsense has no label for these and shows the key. */
const plain = new Set(["addr4", "addr6", "macaddr_hw", "mtu", "nd6", "laggport", "members"]);

const labelOf = (name: string): string =>
  plain.has(name) ? name : name.replace(/(?:^|[ _])[a-z]/g, (start) => start.replace("_", " ").toUpperCase());
