import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { type KernelAddress, type KernelRow, parseKernelRows } from "./row.ts";
import { type RunIpOptions, runIp } from "./run-ip.ts";

/**
 * The current network devices of this machine. Without a usable `ip` it uses Node's own list, which has only devices
 * that are up and have an address. A failed read throws; it is never an empty list.
 */
export async function readKernel(options: RunIpOptions = {}): Promise<readonly KernelRow[]> {
  const ipOutput = await runIp(["-json", "-details", "-statistics", "addr"], options);
  if (ipOutput === undefined) return rowsOrThrow(rowsFromNode(networkInterfaces()));
  try {
    return parseKernelRows(ipOutput.printed);
  } catch (error) {
    throw new Error(`cannot parse the output of \`${ipOutput.command}\`: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Node lists only devices that are up, so a machine where all are down is not the same as one without any. */
function rowsOrThrow(rows: readonly KernelRow[]): readonly KernelRow[] {
  if (rows.length === 0) throw new Error("no interface is up, and others can be read only with `ip` (iproute2)");
  return rows;
}

/** Node knows less than `ip`, so some fields are missing. It lists only devices that are up and running. */
export function rowsFromNode(list: NodeJS.Dict<NetworkInterfaceInfo[]>): readonly KernelRow[] {
  return Object.entries(list).map(([ifname, addresses = []]) => ({
    ifname,
    flags: addresses.some(({ internal }) => internal) ? ["UP", "LOOPBACK"] : ["UP"],
    ...(addresses[0] && { address: addresses[0].mac }),
    addr_info: addresses.map(addressFromNode),
  }));
}

function addressFromNode({ family, address, cidr }: NetworkInterfaceInfo): KernelAddress {
  const bits = cidr?.split("/")[1];
  return {
    family: family === "IPv4" ? "inet" : "inet6",
    local: address,
    ...(bits !== undefined && { prefixlen: Number(bits) }),
  };
}
