import { parseIpJson } from "../../lib/kernel/ip-json.ts";
import { type RunIpOptions, runIp } from "../../lib/kernel/run-ip.ts";
import { describe, type FirewallConfig } from "../config.ts";
import type { Snapshot } from "./report.ts";

/** A machine on the same link, as `ip -json neigh` prints it. */
export type NeighbourEntry = {
  readonly address: string;
  readonly dev: string;
  readonly mac: string;
  readonly isPermanent: boolean;
};

/** The ARP table: IPv4 neighbours that have answered. */
export async function readArp(options: RunIpOptions = {}): Promise<readonly NeighbourEntry[]> {
  const ipOutput = await runIp(["-json", "-family", "inet", "neigh", "show"], options);
  if (ipOutput === undefined) throw new Error("the ARP table cannot be read without `ip` (iproute2)");
  return parseNeighbours(ipOutput.printed);
}

export function parseNeighbours(printed: string): readonly NeighbourEntry[] {
  const parsed: unknown = printed.trim() === "" ? [] : parseIpJson(printed);
  if (!Array.isArray(parsed)) throw new Error("the output of `ip neigh` is not a list of neighbours");
  return parsed.flatMap(({ dst, dev, lladdr, state }: Readonly<Record<string, unknown>>) => {
    // Without a hardware address, the neighbour has not answered.
    if (typeof dst !== "string" || typeof dev !== "string" || typeof lladdr !== "string") return [];
    return [{ address: dst, dev, mac: lladdr, isPermanent: Array.isArray(state) && state.includes("PERMANENT") }];
  });
}

/**
 * One row per neighbour with every key that OPNsense has. Linux drops entries when it needs space, not at a certain
 * time, so nothing here expires; the kernel has no host names or manufacturers.
 */
export function arpRows(neighbours: readonly NeighbourEntry[], { rows, report }: Snapshot, config: FirewallConfig) {
  return neighbours.flatMap(({ address, dev, mac, isPermanent }) => {
    const device = report.get(dev);
    if (device === undefined) return [];
    const linkType = rows.find(({ ifname }) => ifname === dev)?.link_type ?? "";
    return [
      {
        mac,
        ip: address,
        intf: dev,
        expired: false,
        expires: -1,
        permanent: isPermanent,
        type: linkType === "ether" ? "ethernet" : linkType,
        manufacturer: "",
        hostname: "",
        intf_description: describe(config, dev, device.flags),
      },
    ];
  });
}
