import { fullRead } from "../backlog.ts";
import type { Libc } from "./libc.ts";

/** Datagrams per system call: a full batch is the sign of a backlog. 64 were not faster. */
export const batchSize = fullRead;

/** Bytes of the structures of 64-bit Linux: `mmsghdr`, `iovec`, and room for `sockaddr_in6` and for control data. */
const size = { header: 64, vector: 16, name: 32, control: 64 } as const;
/**
 * Room for the longest datagram. Not a power of two: then the first bytes of all would compete for the same places in
 * the processor's cache. What no datagram reaches takes no memory.
 */
const bufferStride = 65_536 + 9 * 64;
/** Offsets in `mmsghdr`. */
const at = { name: 0, nameLength: 8, vector: 16, vectors: 24, control: 32, controlLength: 40, length: 56 } as const;

const headBytes = batchSize * (size.header + size.vector + size.name + size.control);
const scratchBytes = 4_096;
const allBytes = scratchBytes + 2 * (headBytes + batchSize * bufferStride);

const access = { read: 1, write: 2 } as const;
const kinds = { private: 0x02, anonymous: 0x20, noReserve: 0x4000 } as const;

/**
 * The memory that one socket shares with the kernel: arrays of `mmsghdr`, and what they point to, for receiving and for
 * sending. The pointers are written once. It is mapped outside of the garbage collector's memory, and never unmapped,
 * because a view of it may live as long as its thread.
 */
export class DatagramMemory {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  /** Small arguments of other calls: the first bytes. */
  readonly scratch: bigint;
  readonly received: Messages;
  readonly replies: Messages;

  constructor(libc: Libc) {
    const base = libc.mmap(
      0n,
      BigInt(allBytes),
      access.read | access.write,
      kinds.private | kinds.anonymous | kinds.noReserve,
      -1,
      0n,
    );
    // MAP_FAILED is -1.
    if (BigInt.asIntN(64, base) === -1n) throw new Error(`no memory could be mapped (error ${libc.errno()})`);
    const memory = libc.memoryAt(base, allBytes);
    this.bytes = Buffer.from(memory);
    this.words = new Uint32Array(memory);
    this.scratch = base;
    this.received = new Messages(this.words, base, scratchBytes);
    this.replies = new Messages(this.words, base, scratchBytes + headBytes + batchSize * bufferStride);
  }
}

/** An array of `mmsghdr` and what it points to. Places are offsets in the memory. */
export class Messages {
  /** Pointers to the array from the message with that number on. */
  readonly pointers: readonly bigint[];
  readonly first: bigint;
  readonly buffers: readonly Buffer[];
  readonly #words: Uint32Array;
  readonly #start: number;

  constructor(words: Uint32Array, base: bigint, start: number) {
    this.#words = words;
    this.#start = start;
    this.pointers = Array.from({ length: batchSize }, (_, i) => base + BigInt(this.#headerAt(i)));
    this.buffers = this.pointers.map((_, i) => Buffer.from(words.buffer, this.bufferAt(i), 65_536));
    this.first = base + BigInt(start);
    const pointers = new BigUint64Array(words.buffer);
    for (let i = 0; i < batchSize; i++) {
      const header = this.#headerAt(i);
      pointers[(header + at.name) / 8] = base + BigInt(this.nameAt(i));
      pointers[(header + at.vector) / 8] = base + BigInt(this.#vectorAt(i));
      pointers[(header + at.vectors) / 8] = 1n;
      pointers[(header + at.control) / 8] = base + BigInt(this.controlAt(i));
      pointers[this.#vectorAt(i) / 8] = base + BigInt(this.bufferAt(i));
    }
  }

  /** Gives the first messages all their room again, which the kernel has replaced by what it used. */
  makeRoom(count: number, hasControl: boolean): void {
    for (let i = 0; i < count; i++) {
      this.setName(i, size.name);
      this.#words[(this.#vectorAt(i) + 8) >> 2] = bufferStride;
      this.setControl(i, hasControl ? size.control : 0);
    }
  }

  nameAt(i: number): number {
    return this.#start + batchSize * (size.header + size.vector) + i * size.name;
  }

  controlAt(i: number): number {
    return this.#start + batchSize * (size.header + size.vector + size.name) + i * size.control;
  }

  bufferAt(i: number): number {
    return this.#start + headBytes + i * bufferStride;
  }

  /** Of a received datagram. */
  lengthOf(i: number): number {
    return this.#words[(this.#headerAt(i) + at.length) >> 2] ?? 0;
  }

  controlLength(i: number): number {
    return this.#words[(this.#headerAt(i) + at.controlLength) >> 2] ?? 0;
  }

  /** Of a datagram to be sent. */
  setLength(i: number, length: number): void {
    this.#words[(this.#vectorAt(i) + 8) >> 2] = length;
  }

  setName(i: number, length: number): void {
    this.#words[(this.#headerAt(i) + at.nameLength) >> 2] = length;
  }

  setControl(i: number, length: number): void {
    this.#words[(this.#headerAt(i) + at.controlLength) >> 2] = length;
  }

  #headerAt(i: number): number {
    return this.#start + i * size.header;
  }
  #vectorAt(i: number): number {
    return this.#start + batchSize * size.header + i * size.vector;
  }
}
