import type { WireInterface } from "../contract/interfaces.ts";
import type { KernelRow } from "./kernel-row.ts";

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
  const ports = all.filter(({ master }) => master === ifname).map((port) => [port.ifname, portFlags(port)] as const);
  return {
    ...(typeof mode === "string" && { laggproto: protocols[mode] ?? mode }),
    ...(typeof hash === "string" && { lagghash: hashes[hash] ?? hash }),
    ...(ports.length > 0 && { laggport: Object.fromEntries(ports) }),
  };
}

/** A port that carries traffic is active; LACP tells in addition which ways it was agreed on. */
function portFlags({ linkinfo }: KernelRow): string[] {
  const data = linkinfo?.info_slave_data ?? {};
  const agreed: readonly unknown[] = Array.isArray(data.ad_actor_oper_port_state_str)
    ? data.ad_actor_oper_port_state_str
    : [];
  const active = data.state === "ACTIVE" && data.mii_status === "UP";
  return [...(active ? ["active"] : []), ...["collecting", "distributing"].filter((word) => agreed.includes(word))];
}
