import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DeviceDetails, Ipv6Settings, KernelRow } from "../../lib/kernel/row.ts";

/** Folders where the kernel shows what `ip` does not print. */
export type DetailFolders = { readonly devices: string; readonly ipv6: string };

const kernelFolders: DetailFolders = { devices: "/sys/class/net", ipv6: "/proc/sys/net/ipv6/conf" };

/** Adds details from two folders of the kernel to the rows. What cannot be read is left out. */
export async function withDetails(
  rows: readonly KernelRow[],
  folders: DetailFolders = kernelFolders,
): Promise<readonly KernelRow[]> {
  return await Promise.all(rows.map(async (row) => ({ ...row, details: await readDetails(row, folders) })));
}

async function readDetails(row: KernelRow, folders: DetailFolders): Promise<DeviceDetails> {
  const ipv6 = readIpv6(join(folders.ipv6, row.ifname));
  const card = row.link_type === "ether" && row.linkinfo?.info_kind === undefined;
  return { ...(ipv6 && { ipv6 }), ...(card && (await readCard(row, join(folders.devices, row.ifname)))) };
}

/**
 * Speed and duplex of a card. In a network namespace this folder may show another namespace's devices, and one of them
 * may have the same name, so the index and hardware address must match.
 */
async function readCard(row: KernelRow, folder: string): Promise<DeviceDetails> {
  const read = (name: string) =>
    readFile(join(folder, name), "utf8").then(
      (text) => text.trim(),
      () => undefined,
    );
  const [index, address, speedText, duplex] = await Promise.all(["ifindex", "address", "speed", "duplex"].map(read));
  if (index !== String(row.ifindex) || address !== row.address) return {};
  const speed = Number(speedText);
  return {
    ...(Number.isInteger(speed) && speed > 0 && { speed }),
    ...((duplex === "full" || duplex === "half") && { duplex }),
  };
}

const settingNames = ["disable_ipv6", "accept_ra", "forwarding", "addr_gen_mode", "accept_dad"] as const;

/** These files are in the kernel's memory: reading them does not block, and using the thread pool would cost more. */
function readIpv6(folder: string): Ipv6Settings | undefined {
  const read = (name: string) => Number(readFileSync(join(folder, name), "utf8"));
  try {
    return Object.fromEntries(settingNames.map((name) => [name, read(name)])) as Ipv6Settings;
  } catch {
    return undefined;
  }
}
