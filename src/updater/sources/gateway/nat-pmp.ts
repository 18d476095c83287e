import { openUdpPeer } from "./udp-exchange.ts";

/** An answer over NAT-PMP or PCP. `other-version`: the gateway supports only the other one. */
export type MappingAnswer =
  | { readonly kind: "address"; readonly text: string }
  | { readonly kind: "refused"; readonly because: string }
  | { readonly kind: "other-version" }
  | { readonly kind: "silent" };

export const mappingPort = 5351;

/** The external IPv4 address by NAT-PMP (RFC 6886, 3.2). */
export async function askNatPmp(gateway: string, signal: AbortSignal, port = mappingPort): Promise<MappingAnswer> {
  const peer = await openUdpPeer(gateway, port);
  if (!peer) return { kind: "silent" };
  try {
    return (await peer.ask(Uint8Array.of(0, 0), readNatPmp, signal)) ?? { kind: "silent" };
  } finally {
    peer.close();
  }
}

const natPmpResults: Readonly<Record<number, string>> = {
  2: "it does not allow NAT-PMP for this machine",
  3: "it has no address at the moment",
  4: "it is out of resources",
  5: "it does not support the request",
};

/** Undefined for a packet that is not an answer to the request. */
export function readNatPmp(packet: Buffer): MappingAnswer | undefined {
  if (packet.length < 4) return undefined;
  // A gateway that supports only PCP answers in its own format, with its version.
  if (packet[0] === 2) return { kind: "other-version" };
  if (packet[0] !== 0 || packet[1] !== 128) return undefined;
  const result = packet.readUInt16BE(2);
  if (result === 1) return { kind: "other-version" };
  if (result !== 0) return { kind: "refused", because: natPmpResults[result] ?? `NAT-PMP result ${result}` };
  return packet.length < 12 ? undefined : { kind: "address", text: packet.subarray(8, 12).join(".") };
}
