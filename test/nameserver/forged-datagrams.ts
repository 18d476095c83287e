import { batchSize, DatagramMemory } from "../../src/nameserver/listen/batch/datagram-memory.ts";
import { type Libc, loadLibc } from "../../src/nameserver/listen/batch/libc.ts";

export type Address = readonly [number, number, number, number];

export type Forged = {
  readonly bytes: Uint8Array;
  /** The client that it claims to come from. */
  readonly from: Address;
  readonly fromPort: number;
};

const internet = 2;
const raw = 3;
const loopback: Address = [127, 0, 0, 1];
/** The IP header is in the datagram. */
const withHeader = 255;
const udp = 17;
const headers = 20 + 8;
export const longestForged = 65_535 - headers;

/**
 * Sends UDP datagrams with whatever address and port they claim to come from. Only root of a network namespace may do
 * that.
 */
export class ForgedDatagrams {
  readonly #libc: Libc = loadLibc();
  readonly #memory = new DatagramMemory(this.#libc);
  readonly #socket: number;
  readonly #port: number;
  readonly #to: Address;

  constructor(port: number, to = loopback) {
    this.#port = port;
    this.#to = to;
    this.#socket = this.#libc.socket(internet, raw, withHeader);
    if (this.#socket < 0) throw new Error(`no raw socket could be opened (error ${this.#libc.errno()})`);
  }

  /** At most as many as one batch has. Returns how many were sent. */
  send(batch: readonly Forged[]): number {
    const { replies, bytes } = this.#memory;
    for (const [i, { bytes: payload, from, fromPort }] of batch.entries()) {
      const at = replies.bufferAt(i);
      bytes.fill(0, at, at + headers);
      bytes[at] = 0x45;
      bytes[at + 8] = 64;
      bytes[at + 9] = udp;
      bytes.set(from, at + 12);
      bytes.set(this.#to, at + 16);
      bytes.writeUInt16BE(fromPort, at + 20);
      bytes.writeUInt16BE(this.#port, at + 22);
      bytes.writeUInt16BE(8 + payload.length, at + 24);
      bytes.set(payload, at + headers);
      bytes.writeUInt16LE(internet, replies.nameAt(i));
      bytes.set(this.#to, replies.nameAt(i) + 4);
      replies.setName(i, 16);
      replies.setControl(i, 0);
      replies.setLength(i, headers + payload.length);
    }
    return this.#libc.sendmmsg(this.#socket, replies.first, Math.min(batch.length, batchSize), 0);
  }

  close(): void {
    this.#libc.close(this.#socket);
  }
}
