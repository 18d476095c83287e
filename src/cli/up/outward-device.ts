import { readFileIfThere } from "../../process/data-folder.ts";

export type Device = {
  readonly name: string;
  readonly loopback: boolean;
  readonly addressed: boolean;
  /** Has an address that is not link-local. */
  readonly publishable: boolean;
};

/** The device of the default route, or the best guess from the addresses of this machine. */
export async function outwardDevice(devices: readonly Device[]): Promise<string | undefined> {
  const [routes4, routes6] = await Promise.all([
    readFileIfThere("/proc/net/route"),
    readFileIfThere("/proc/net/ipv6_route"),
  ]);
  return pickOutward(devices, defaultRoute4(routes4 ?? "") ?? defaultRoute6(routes6 ?? ""));
}

/**
 * The device of the default route; or the first with an address that could be published; or the first with any address.
 */
export function pickOutward(devices: readonly Device[], route: string | undefined): string | undefined {
  const usable = devices.filter(({ loopback, addressed }) => addressed && !loopback);
  const device =
    usable.find(({ name }) => name === route) ?? usable.find(({ publishable }) => publishable) ?? usable[0];
  return device?.name;
}

/** Columns: device, destination, gateway, flags, ...; the destination of the default route is 0. */
export function defaultRoute4(table: string): string | undefined {
  return columnsOf(table).find(([, destination]) => destination === "00000000")?.[0];
}

/** Columns: destination, its prefix length, ..., device last. The kernel's own rejecting default routes are on `lo`. */
export function defaultRoute6(table: string): string | undefined {
  return columnsOf(table)
    .filter(([destination, length]) => destination === "0".repeat(32) && length === "00")
    .map((columns) => columns.at(-1))
    .find((device) => device !== "lo");
}

const columnsOf = (table: string): readonly string[][] => table.split("\n").map((line) => line.trim().split(/\s+/));
