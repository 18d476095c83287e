import { networkInterfaces } from "node:os";
import { bracketed } from "../../core/addresses/address.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";

/** An address of the device that other machines can reach. */
export function addressOn(device: string, interfaces = networkInterfaces()): string {
  const usable = (interfaces[device] ?? []).filter(({ family, scopeid }) => family === "IPv4" || scopeid === 0);
  const address = usable.find(({ family }) => family === "IPv4") ?? usable[0];
  if (address === undefined)
    throw new Error(`${device} has no address that other machines can reach; give one with --host ADDRESS`);
  return address.address;
}

/**
 * Listens on all addresses instead of loopback, so that it survives a change of its address. Other choices of the user
 * stay.
 */
export const openToOthers = ({ host, port }: ListenAddress, name: string): ListenAddress => ({
  host: host !== "127.0.0.1" ? host : name.includes(":") ? "::" : "0.0.0.0",
  port,
});

/** The URL of a server under the name that other machines have for it. */
export function seenFrom(url: string, host: string | undefined): string {
  if (host === undefined) return url;
  const { protocol, port } = new URL(url);
  return `${protocol}//${bracketed(host)}:${port}`;
}
