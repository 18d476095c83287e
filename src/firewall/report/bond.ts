import type { WireInterface } from "../../contract/interfaces.ts";
import type { KernelRow } from "../kernel/row.ts";

/** FreeBSD calls a bond a lagg, and its modes otherwise. */
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

export function reportBond(
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

/** A port that carries traffic is active; LACP tells in addition which ways it was agreed on, and why. */
function reportPort({ linkinfo }: KernelRow): { flags: string[]; state: string[] } {
  const data = linkinfo?.info_slave_data ?? {};
  const told: readonly unknown[] = Array.isArray(data.ad_actor_oper_port_state_str)
    ? data.ad_actor_oper_port_state_str
    : [];
  const agreed = told.filter((word) => typeof word === "string");
  const active = data.state === "ACTIVE" && data.mii_status === "UP";
  return {
    flags: [...(active ? ["active"] : []), ...["collecting", "distributing"].filter((word) => agreed.includes(word))],
    state: agreed.map((word) => stateWords[word] ?? word),
  };
}

/** Both systems have the same bits of IEEE 802.1AX; FreeBSD's names for them. */
const stateWords: Readonly<Record<string, string>> = {
  active: "activity",
  short_timeout: "timeout",
  aggregating: "aggregation",
  in_sync: "sync",
};
