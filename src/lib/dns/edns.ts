import { types } from "./codes.ts";
import type { MessageWriter } from "./message-writer.ts";

/** The OPT record (RFC 6891 section 6), which is not a real record: it describes the sender. */
export type Edns = {
  readonly udpSize: number;
  readonly version: number;
  readonly dnssecOk: boolean;
  readonly options: readonly EdnsOption[];
};

export type EdnsOption = { readonly code: number; readonly data: Uint8Array };

/**
 * The size that moor advertises, and the largest reply that it sends over UDP: it needs no fragmentation (RFC 9715).
 */
export const ednsUdpSize = 1_232;

const smallestUdp = 512;

/** The largest datagram for this client. RFC 6891 section 6.2.3: a size below 512 counts as 512. */
export const udpSizeLimit = (edns: Pick<Edns, "udpSize"> | undefined): number =>
  edns ? Math.min(Math.max(edns.udpSize, smallestUdp), ednsUdpSize) : smallestUdp;

/** Name, type, class, TTL and length of an OPT record without options. */
export const bareOptLength = 11;

/**
 * In an OPT record, the class is the size, and the TTL contains the upper bits of the response code, the version and
 * flags.
 */
export function ednsFromRecord(udpSize: number, ttl: number, data: Uint8Array): Edns | undefined {
  const options = readOptions(data);
  return options && { udpSize, version: (ttl >>> 16) & 0xff, dnssecOk: (ttl & 0x8000) !== 0, options };
}

export function writeEdns(writer: MessageWriter, edns: Edns, rcode: number): void {
  writer.u8(0);
  writer.u16(types.opt);
  writer.u16(edns.udpSize);
  writer.u8(rcode >>> 4);
  writer.u8(edns.version);
  writer.u16(edns.dnssecOk ? 0x8000 : 0);
  writer.u16(edns.options.reduce((sum, option) => sum + 4 + option.data.length, 0));
  for (const { code, data } of edns.options) {
    writer.u16(code);
    writer.u16(data.length);
    writer.bytes(data);
  }
}

/** A message with more is malformed: reading thousands would take longer than the answer. */
const mostOptions = 100;

function readOptions(data: Uint8Array): readonly EdnsOption[] | undefined {
  const options: EdnsOption[] = [];
  for (let at = 0; at < data.length; ) {
    if (at + 4 > data.length || options.length === mostOptions) return undefined;
    const code = ((data[at] ?? 0) << 8) | (data[at + 1] ?? 0);
    const end = at + 4 + (((data[at + 2] ?? 0) << 8) | (data[at + 3] ?? 0));
    if (end > data.length) return undefined;
    options.push({ code, data: new Uint8Array(data.subarray(at + 4, end)) });
    at = end;
  }
  return options;
}
