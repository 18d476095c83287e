import { randomBytes } from "node:crypto";
import { addressBytes, addressFromBytes, parseIpv4 } from "../../../core/addresses/address.ts";
import { type MappingAnswer, mappingPort } from "./nat-pmp.ts";
import { openUdpPeer } from "./udp-exchange.ts";

/**
 * RFC 6887, 15: the gateway may choose another lifetime, but it forgets the mapping soon even if the second request is
 * lost.
 */
const lifetime = 120;
const udp = 17;

/**
 * The external IPv4 address by PCP. PCP has no request for it; it is only in the answer to a new mapping (RFC 6887,
 * 11). So this creates one for its own UDP port, which serves nothing, and removes it again.
 */
export async function askPcp(gateway: string, signal: AbortSignal, port = mappingPort): Promise<MappingAnswer> {
  const peer = await openUdpPeer(gateway, port);
  if (!peer) return { kind: "silent" };
  try {
    const nonce = randomBytes(12);
    const request = { nonce, client: peer.own.address, port: peer.own.port };
    const read = (packet: Buffer) => readPcp(packet, nonce);
    const answer = await peer.ask(mapRequest({ ...request, lifetime }), read, signal);
    if (answer?.kind === "address") await peer.ask(mapRequest({ ...request, lifetime: 0 }), read, signal);
    return answer ?? { kind: "silent" };
  } finally {
    peer.close();
  }
}

type MapRequest = {
  readonly nonce: Uint8Array;
  readonly client: string;
  readonly port: number;
  readonly lifetime: number;
};

/** RFC 6887, 7.1 and 11.1. */
function mapRequest({ nonce, client, port, lifetime }: MapRequest): Buffer {
  const packet = Buffer.alloc(60);
  packet[0] = 2;
  packet[1] = 1;
  packet.writeUInt32BE(lifetime, 4);
  packet.set(mapped(client), 8);
  packet.set(nonce, 24);
  packet[36] = udp;
  packet.writeUInt16BE(port, 40);
  packet.set(mapped("0.0.0.0"), 44);
  return packet;
}

/** An IPv4 address inside an IPv6 address: RFC 6887, 5. */
function mapped(text: string): Buffer {
  const address = parseIpv4(text);
  if (!address) throw new Error("not an IPv4 address");
  return Buffer.concat([mappedPrefix, addressBytes(address)]);
}

const mappedPrefix = Buffer.from("00000000000000000000ffff", "hex");

const pcpResults: Readonly<Record<number, string>> = {
  2: "it does not allow PCP for this machine",
  4: "it does not support the request",
  7: "it has no address at the moment",
  8: "it is out of resources",
  10: "this machine has used up its mappings",
  11: "it cannot provide an external address",
  12: "another NAT is between this machine and the gateway",
};

/** Undefined for a packet that is not an answer to our request. */
export function readPcp(packet: Buffer, nonce: Uint8Array): MappingAnswer | undefined {
  if (packet.length < 4) return undefined;
  // A gateway that supports only NAT-PMP answers in its own format, with its version.
  if (packet[0] === 0) return { kind: "other-version" };
  if (packet[0] !== 2 || packet[1] !== 0x81) return undefined;
  const result = packet[3] ?? 0;
  if (result === 1) return { kind: "other-version" };
  if (result !== 0) return { kind: "refused", because: pcpResults[result] ?? `PCP result ${result}` };
  if (packet.length < 60 || !packet.subarray(24, 36).equals(nonce)) return undefined;
  if (!packet.subarray(44, 56).equals(mappedPrefix))
    return { kind: "refused", because: "it offers only an IPv6 address" };
  const address = addressFromBytes(packet.subarray(56, 60));
  return address && { kind: "address", text: address.text };
}
