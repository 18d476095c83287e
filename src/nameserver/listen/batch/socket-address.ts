import { lookup } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import { addressBytes, addressFromBytes, parseAddress } from "../../../core/addresses/address.ts";
import type { ListenAddress } from "../../../lib/http/listen.ts";

/** `sockaddr_in` and `sockaddr_in6`: their families and lengths, and where the parts are. */
export const families = { ipv4: 2, ipv6: 10 } as const;
export const nameLengths = { ipv4: 16, ipv6: 28 } as const;
const portAt = 2;
export const addressAt = { ipv4: 4, ipv6: 8 } as const;
const scopeAt = 24;

/** An address to bind, with its interface if it is a link-local one: `fe80::1%eth0`. */
export type BindAddress = {
  readonly family: "ipv4" | "ipv6";
  readonly bytes: Uint8Array;
  readonly scope: string;
  readonly port: number;
  /** All addresses of this machine: datagrams say which one they were sent to. */
  readonly isAny: boolean;
};

export async function resolveBindAddress({ host, port }: ListenAddress): Promise<BindAddress> {
  const text = isIP(host) === 0 ? (await lookup(host, { family: 4 })).address : host;
  const [plain = "", scope = ""] = text.split("%");
  const address = parseAddress(plain);
  if (address === undefined) throw new Error(`${host} is not an address`);
  const bytes = addressBytes(address);
  const isAny = bytes.every((byte) => byte === 0);
  return { family: isIPv6(plain) ? "ipv6" : "ipv4", bytes, scope, port, isAny };
}

export function writeName(memory: Buffer, at: number, { family, bytes, port }: BindAddress, scope: number): void {
  memory.fill(0, at, at + nameLengths.ipv6);
  memory.writeUInt16LE(families[family], at);
  memory.writeUInt16BE(port, at + portAt);
  memory.set(bytes, at + addressAt[family]);
  if (family === "ipv6") memory.writeUInt32LE(scope, at + scopeAt);
}

export const portIn = (memory: Buffer, nameAt: number): number =>
  ((memory[nameAt + portAt] ?? 0) << 8) | (memory[nameAt + portAt + 1] ?? 0);

/** Whether the IPv6 address is an IPv4 address: a socket for both families shows IPv4 clients like this. */
export function isMapped(memory: Buffer, at: number): boolean {
  for (let i = at; i < at + 10; i++) if (memory[i] !== 0) return false;
  return memory[at + 10] === 0xff && memory[at + 11] === 0xff;
}

export const printAddress = (bytes: Uint8Array): string => addressFromBytes(bytes)?.text ?? "";
