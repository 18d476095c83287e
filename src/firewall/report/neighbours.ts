import { describe, type FirewallConfig } from "../config.ts";
import { type RunIpOptions, runIp } from "../kernel/run-ip.ts";
import type { Snapshot } from "./snapshot.ts";

/** A machine on the same link, as `ip -json neigh` prints it. */
export type Neighbour = {
  readonly address: string;
  readonly dev: string;
  readonly mac: string;
  readonly isPermanent: boolean;
};

/** The ARP table: neighbours by IPv4 address that have answered. */
export async function readArp(options: RunIpOptions = {}): Promise<readonly Neighbour[]> {
  const found = await runIp(["-json", "-family", "inet", "neigh", "show"], options);
  if (found === undefined) throw new Error("the ARP table cannot be read without `ip` (iproute2)");
  return parseNeighbours(found.printed);
}

export function parseNeighbours(printed: string): readonly Neighbour[] {
  const parsed: unknown = printed.trim() === "" ? [] : JSON.parse(printed);
  if (!Array.isArray(parsed)) throw new Error("what `ip neigh` printed is not a list of neighbours");
  return parsed.flatMap(({ dst, dev, lladdr, state }: Readonly<Record<string, unknown>>) => {
    // Without a hardware address nobody has answered yet, or nobody is there.
    if (typeof dst !== "string" || typeof dev !== "string" || typeof lladdr !== "string") return [];
    return [{ address: dst, dev, mac: lladdr, isPermanent: Array.isArray(state) && state.includes("PERMANENT") }];
  });
}

/**
 * One row per neighbour with every key of the original. Linux drops an entry when it needs the room and not at a certain time,
 * so nothing here expires; names and manufacturers are not in the kernel.
 */
export function arpRows(neighbours: readonly Neighbour[], { rows, report }: Snapshot, config: FirewallConfig) {
  return neighbours.flatMap(({ address, dev, mac, isPermanent }) => {
    const device = report.get(dev);
    if (device === undefined) return [];
    const linkType = rows.find(({ ifname }) => ifname === dev)?.link_type ?? "";
    return [
      {
        ...{ mac, ip: address, intf: dev, expired: false, expires: -1, permanent: isPermanent },
        type: linkType === "ether" ? "ethernet" : linkType,
        ...{ manufacturer: "", hostname: "" },
        intf_description: describe(config, dev, device.flags),
      },
    ];
  });
}
