import { getSystemErrorName } from "node:util";
import { type Client, isLoopbackAt, networkAt } from "../client.ts";
import { receiveBuffer } from "../udp.ts";
import { batchSize, DatagramMemory } from "./datagram-memory.ts";
import { askForDestination, turnAround } from "./destination.ts";
import type { Libc } from "./libc.ts";
import {
  addressAt,
  type BindAddress,
  families,
  isMapped,
  nameLengths,
  portIn,
  printAddress,
  writeName,
} from "./socket-address.ts";

const kinds = { datagram: 2, closeOnExec: 0o2000000 } as const;
const levels = { socket: 1, ipv6: 41 } as const;
const options = { receiveBuffer: 8, reusePort: 15, onlyIpv6: 26 } as const;
const flags = { dontWait: 0x40 } as const;
const events = { writable: 4 } as const;

/** Milliseconds that a full send buffer may take to drain: a network card sends that much in less. */
const draining = 5;

const noBytes = Buffer.alloc(0);

/** Whom a reply goes to, and from which address: copies of what the kernel said about the query. */
export type BatchClient = Client & { readonly name: Uint8Array; readonly control: Uint8Array | undefined };

export type BatchSocketOptions = {
  readonly libc: Libc;
  readonly address: BindAddress;
  readonly reusePort: boolean;
  /** Of the hashes of networks. */
  readonly seed: number;
  /** Called with the file descriptor immediately after it was opened, and before it is closed. */
  readonly opened: (fd: number) => void;
  readonly closing: () => void;
};

/**
 * A UDP socket that receives and sends up to 32 datagrams per system call. What was received is read in place, by its
 * number, until the next `receive`; replies are written in place, and sent by `flush`.
 */
export class BatchSocket {
  readonly fd: number;
  readonly port: number;
  readonly memory: DatagramMemory;
  readonly #libc: Libc;
  readonly #options: BatchSocketOptions;
  readonly #addressAt: number;
  readonly #nameLength: number;
  readonly #hasControl: boolean;
  #received = batchSize;
  #waiting = 0;
  #isOpen = true;

  constructor(socketOptions: BatchSocketOptions) {
    const { libc, address } = socketOptions;
    this.#libc = libc;
    this.#options = socketOptions;
    this.#addressAt = addressAt[address.family];
    this.#nameLength = nameLengths[address.family];
    this.#hasControl = address.isAny;
    this.memory = new DatagramMemory(libc);
    this.fd = this.#checked("socket", libc.socket(families[address.family], kinds.datagram | kinds.closeOnExec, 0));
    socketOptions.opened(this.fd);
    try {
      this.port = this.#bind(address, socketOptions.reusePort);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** How many datagrams have arrived, up to 32; it does not wait. */
  receive(): number {
    const { memory } = this;
    memory.received.makeRoom(this.#received, this.#hasControl);
    const count = this.#libc.recvmmsg(this.fd, memory.received.first, batchSize, flags.dontWait, 0n);
    // Nothing there, or the error of an earlier reply.
    this.#received = Math.max(count, 0);
    return this.#received;
  }

  lengthOf(i: number): number {
    return this.memory.received.lengthOf(i);
  }

  /** Its datagram is the beginning. */
  bufferOf(i: number): Buffer {
    return this.memory.received.buffers[i] ?? noBytes;
  }

  portOf(i: number): number {
    return portIn(this.memory.bytes, this.memory.received.nameAt(i));
  }

  /** The client's network and whether it is on this machine, without a copy. */
  limitsOf(i: number, into: { network: number; isLocal: boolean }): void {
    const { bytes, received } = this.memory;
    const at = received.nameAt(i) + this.#addressAt;
    const start = this.#addressStart(at);
    const length = this.#addressAt === addressAt.ipv6 && start === at ? 16 : 4;
    into.network = networkAt(bytes, start, length, this.#options.seed);
    into.isLocal = isLoopbackAt(bytes, start, length);
  }

  /** A copy of all about the client of a datagram. */
  clientOf(i: number): BatchClient {
    const { bytes, received } = this.memory;
    const nameAt = received.nameAt(i);
    const start = this.#addressStart(nameAt + this.#addressAt);
    const address = Uint8Array.from(bytes.subarray(start, nameAt + (this.#nameLength === nameLengths.ipv4 ? 8 : 24)));
    const limits = { network: 0, isLocal: false };
    this.limitsOf(i, limits);
    const length = received.controlLength(i);
    const control =
      length === 0 ? undefined : Uint8Array.from(bytes.subarray(received.controlAt(i), received.controlAt(i) + length));
    const name = Uint8Array.from(bytes.subarray(nameAt, nameAt + this.#nameLength));
    return {
      address,
      ...limits,
      name,
      control,
      get text() {
        return printAddress(address);
      },
    };
  }

  hasReplies(): boolean {
    return this.#waiting > 0;
  }

  /** Where the next reply has to be written. */
  replyBuffer(): Buffer {
    return this.memory.replies.buffers[this.#waiting] ?? noBytes;
  }

  /** What was written there is the reply to a datagram of this batch. */
  replyTo(i: number, length: number): void {
    const { words, received, replies } = this.memory;
    const j = this.#waiting;
    copyWords(words, replies.nameAt(j), received.nameAt(i), this.#nameLength);
    const control = this.#hasControl ? received.controlLength(i) : 0;
    copyWords(words, replies.controlAt(j), received.controlAt(i), control);
    this.#add(length, control);
  }

  /** Adds a reply, which is sent with the next batch. */
  send(reply: Uint8Array, { name, control }: BatchClient): void {
    if (!this.#isOpen) return;
    const { bytes, replies } = this.memory;
    const j = this.#waiting;
    bytes.set(reply, replies.bufferAt(j));
    bytes.set(name, replies.nameAt(j));
    if (control) bytes.set(control, replies.controlAt(j));
    this.#add(reply.length, control?.length ?? 0);
  }

  /**
   * Sends all replies. If the kernel's buffer is full, this waits a little. Replies that it then still does not take
   * are lost, and so is one that cannot be sent to its client: clients retry.
   */
  flush(): void {
    const { pointers } = this.memory.replies;
    let sent = 0;
    while (sent < this.#waiting) {
      const count = this.#libc.sendmmsg(this.fd, pointers[sent] ?? 0n, this.#waiting - sent, flags.dontWait);
      if (count > 0) sent += count;
      // The first one is at fault, not the buffer.
      else if (this.#isWritable(0)) sent += 1;
      else if (!this.#isWritable(draining)) break;
    }
    this.#waiting = 0;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.flush();
    this.#isOpen = false;
    this.#options.closing();
    this.#libc.close(this.fd);
  }

  #add(length: number, control: number): void {
    const { bytes, replies } = this.memory;
    const j = this.#waiting;
    if (control > 0) turnAround(bytes, replies.controlAt(j));
    replies.setName(j, this.#nameLength);
    replies.setControl(j, control);
    replies.setLength(j, length);
    this.#waiting += 1;
    if (this.#waiting === batchSize) this.flush();
  }

  #addressStart(at: number): number {
    return this.#addressAt === addressAt.ipv6 && isMapped(this.memory.bytes, at) ? at + 12 : at;
  }

  #isWritable(timeout: number): boolean {
    const { words, scratch } = this.memory;
    words[0] = this.fd;
    words[1] = events.writable;
    return this.#libc.poll(scratch, 1n, timeout) > 0;
  }

  #bind(address: BindAddress, reusePort: boolean): number {
    const { memory } = this;
    const { libc } = this.#options;
    if (reusePort) this.#checked("SO_REUSEPORT", this.#set(levels.socket, options.reusePort, 1));
    // Its size is capped without an error.
    this.#set(levels.socket, options.receiveBuffer, receiveBuffer);
    if (address.family === "ipv6") this.#set(levels.ipv6, options.onlyIpv6, address.isAny ? 0 : 1);
    const { level, option } = askForDestination[address.family];
    if (address.isAny) this.#checked("the address asked", this.#set(level, option, 1));
    const scope = this.#scopeOf(address.scope);
    writeName(memory.bytes, 0, address, scope);
    this.#checked("bind", libc.bind(this.fd, memory.scratch, this.#nameLength));
    memory.words[8] = this.#nameLength;
    this.#checked("getsockname", libc.getsockname(this.fd, memory.scratch, memory.scratch + 32n));
    return portIn(memory.bytes, 0);
  }

  /** The number of an interface. */
  #scopeOf(name: string): number {
    if (name === "" || /^\d+$/.test(name)) return Number(name);
    this.memory.bytes.write(`${name}\0`, 0, "latin1");
    return this.#libc.if_nametoindex(this.memory.scratch);
  }

  #set(level: number, option: number, value: number): number {
    this.memory.words[0] = value;
    return this.#libc.setsockopt(this.fd, level, option, this.memory.scratch, 4);
  }

  /** Throws an error with the code that Node's own sockets give it. */
  #checked(what: string, result: number): number {
    if (result >= 0) return result;
    const code = getSystemErrorName(-this.#libc.errno());
    throw Object.assign(new Error(`${what}: ${code}`), { code });
  }
}

/** So few are copied faster than by `copyWithin`. Lengths are in bytes; the last word is copied whole. */
function copyWords(words: Uint32Array, to: number, from: number, length: number): void {
  for (let i = 0; i < length; i += 4) words[(to + i) >> 2] = words[(from + i) >> 2] ?? 0;
}
