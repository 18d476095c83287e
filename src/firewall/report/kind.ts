import type { WireInterface } from "../../contract/interfaces.ts";
import type { KernelRow } from "../../lib/kernel/row.ts";

type Extra = Pick<
  WireInterface,
  "tunnel" | "groups" | "vlan" | "members" | "priority" | "hellotime" | "fwddelay" | "maxage" | "timeout" | "vxlan"
> &
  ReturnType<typeof reportBond>;

/** What only tunnels, grouped devices, VLANs, bonds, bridges and VXLANs have, in the order of the report. */
export function reportKind(row: KernelRow, all: readonly KernelRow[]): Extra {
  const kind = row.linkinfo?.info_kind;
  return {
    ...reportTunnel(row),
    ...(row.group !== undefined && row.group !== "default" && { groups: [row.group] }),
    ...(kind === "vlan" && reportVlan(row)),
    ...(kind === "bond" && reportBond(row, all)),
    ...(kind === "bridge" && reportBridge(row, all)),
    ...(kind === "vxlan" && reportVxlan(row)),
  };
}

const tunnelKinds = new Set(["gre", "gretap", "ipip", "sit", "vti", "vti6", "ip6tnl", "ip6gre", "ip6gretap"]);

function reportTunnel({ linkinfo }: KernelRow): Pick<Extra, "tunnel"> {
  const { local, remote } = linkinfo?.info_data ?? {};
  if (!tunnelKinds.has(linkinfo?.info_kind ?? "") || !isAddress(local) || !isAddress(remote)) return {};
  return { tunnel: { proto: local.includes(":") ? "inet6" : "inet", src_addr: local, dest_addr: remote } };
}

/** `ip` prints `any` for an endpoint that is not fixed. */
const isAddress = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f.:]+$/i.test(value);

function reportVlan({ link, linkinfo }: KernelRow): Pick<Extra, "vlan"> {
  const { id, protocol, egress_qos } = linkinfo?.info_data ?? {};
  if (typeof id !== "number") return {};
  return {
    vlan: {
      tag: String(id),
      proto: typeof protocol === "string" ? protocol.toLowerCase() : "802.1q",
      pcp: String(priorityOfPlainTraffic(egress_qos)),
      ...(typeof link === "string" && { parent: link }),
    },
  };
}

/** Linux maps each packet priority separately; 0 is the default priority. */
function priorityOfPlainTraffic(map: unknown): number {
  const rows: readonly unknown[] = Array.isArray(map) ? map : [];
  const row = rows.find((each) => (each as { from?: unknown } | null)?.from === 0) as { to?: unknown } | undefined;
  return typeof row?.to === "number" ? row.to : 0;
}

function reportBridge(row: KernelRow, all: readonly KernelRow[]): Extra {
  const data = row.linkinfo?.info_data ?? {};
  const members = all
    .filter(({ master }) => master === row.ifname)
    .map((port) => [port.ifname, { flags: portFlags(port) }] as const);
  return {
    ...(members.length > 0 && { members: Object.fromEntries(members) }),
    ...(typeof data.priority === "number" && { priority: String(data.priority) }),
    ...seconds("hellotime", data.hello_time),
    ...seconds("fwddelay", data.forward_delay),
    ...seconds("maxage", data.max_age),
    ...seconds("timeout", data.ageing_time),
  };
}

/** The kernel counts bridge times in hundredths. */
const seconds = <Key extends string>(key: Key, value: unknown): { [K in Key]?: string } =>
  typeof value === "number" ? ({ [key]: String(Math.round(value / 100)) } as { [K in Key]?: string }) : {};

const portFlagWords = { learning: "learning", flood: "discover", isolated: "private" };

function portFlags({ linkinfo }: KernelRow): string[] {
  const data = linkinfo?.info_slave_data ?? {};
  return Object.entries(portFlagWords).flatMap(([key, word]) => (data[key] === true ? [word] : []));
}

function reportVxlan({ linkinfo }: KernelRow): Pick<Extra, "vxlan"> {
  const data = linkinfo?.info_data ?? {};
  if (typeof data.id !== "number") return {};
  const address = <Key extends string>(key: Key) => {
    const value = data[key] ?? data[`${key}6`];
    return (isAddress(value) ? { [key]: value } : {}) as { [K in Key]?: string };
  };
  return { vxlan: { vni: String(data.id), ...address("local"), ...address("group"), ...address("remote") } };
}

/** FreeBSD calls a bond a lagg, and has other names for the modes. */
const protocols: Readonly<Record<string, string>> = {
  "802.3ad": "lacp",
  "active-backup": "failover",
  "balance-rr": "roundrobin",
  "balance-xor": "loadbalance",
  "balance-tlb": "loadbalance",
  "balance-alb": "loadbalance",
  broadcast: "broadcast",
};
const hashes: Readonly<Record<string, string>> = { layer2: "l2", "layer2+3": "l2,l3", "layer3+4": "l3,l4" };

function reportBond(
  { ifname, linkinfo }: KernelRow,
  all: readonly KernelRow[],
): Pick<WireInterface, "laggproto" | "lagghash" | "laggport"> {
  const { mode, xmit_hash_policy: hash } = linkinfo?.info_data ?? {};
  const ports = all.filter(({ master }) => master === ifname).map((port) => [port.ifname, reportPort(port)] as const);
  return {
    ...(typeof mode === "string" && { laggproto: protocols[mode] ?? mode }),
    ...(typeof hash === "string" && { lagghash: hashes[hash] ?? hash }),
    ...(ports.length > 0 && { laggport: Object.fromEntries(ports) }),
  };
}

/** A port that carries traffic is active; LACP also reports what was negotiated. */
function reportPort({ linkinfo }: KernelRow): { flags: string[]; state: string[] } {
  const data = linkinfo?.info_slave_data ?? {};
  const reported: readonly unknown[] = Array.isArray(data.ad_actor_oper_port_state_str)
    ? data.ad_actor_oper_port_state_str
    : [];
  const agreed = reported.filter((word) => typeof word === "string");
  const active = data.state === "ACTIVE" && data.mii_status === "UP";
  return {
    flags: [...(active ? ["active"] : []), ...["collecting", "distributing"].filter((word) => agreed.includes(word))],
    state: agreed.map((word) => stateWords[word] ?? word),
  };
}

/** FreeBSD's names for the bits of IEEE 802.1AX, which both systems have. */
const stateWords: Readonly<Record<string, string>> = {
  active: "activity",
  short_timeout: "timeout",
  aggregating: "aggregation",
  in_sync: "sync",
};
