import type { Instant } from "../../../core/instant.ts";
import type { ListenAddress } from "../../../lib/http/listen.ts";
import { truncate } from "../../answer/reply.ts";
import { answerDatagrams, type DatagramAnswers, type UdpOptions } from "../answer-datagrams.ts";
import { listenFailure } from "../failure.ts";
import { type BatchClient, BatchSocket } from "./batch-socket.ts";
import { type Libc, loadLibc } from "./libc.ts";
import { resolveBindAddress } from "./socket-address.ts";

const events = { readable: 1, invalid: 0x20 } as const;

/** Milliseconds: the longest wait in the kernel, and the longest while a timer of this thread is running. */
const longestWait = 10_000;
const besideTimers = 2;
/** Batches until the event loop gets its turn, even if it has nothing to do. */
const mostBatches = 100;

const scratchBytes = 4_096;
const mostSockets = 500;

export type BatchListenersOptions = {
  readonly reusePort?: boolean;
  /** Where the file descriptors are noted while they are open, so that another thread can close them. */
  readonly fds?: Int32Array | undefined;
};

/**
 * The sockets of one thread that read and send datagrams in batches, and its wait for them: instead of in libuv, the
 * thread waits in a `poll` for its sockets and for libuv's own descriptor, which is readable as soon as the event loop
 * has something to do, such as a message from another thread. Then the loop gets its turn.
 *
 *     run ─► poll ─► receive, answer, send ─┐
 *      ▲      ▲                             │ nothing else to do
 *      │      └─────────────────────────────┘
 *      └──── a turn of the event loop ◄──── a message, a promise, a timer, or a hundred batches
 */
export class BatchListeners {
  readonly #libc: Libc;
  readonly #options: BatchListenersOptions;
  readonly #listeners: BatchListener[] = [];
  readonly #pollAt: bigint;
  /** `struct pollfd`: two words each, a descriptor and its events. The first is the event loop's. */
  readonly #poll: Int32Array;
  #isRunning = false;
  /** Nothing has happened in the event loop since its last turn. */
  #isSettled = false;

  /** Throws, and says why, where this is not possible. */
  constructor(options: BatchListenersOptions = {}) {
    this.#libc = loadLibc();
    this.#options = options;
    this.#pollAt = this.#libc.mmap(0n, BigInt(scratchBytes), 3, 0x22, -1, 0n);
    this.#poll = new Int32Array(this.#libc.memoryAt(this.#pollAt, scratchBytes));
  }

  async listen(
    at: ListenAddress,
    options: UdpOptions,
  ): Promise<{ address: ListenAddress; close: () => Promise<void> }> {
    const place = this.#listeners.length;
    if (place === mostSockets) throw new Error(`more than ${mostSockets} addresses`);
    try {
      const address = await resolveBindAddress(at);
      const { fds, reusePort = false } = this.#options;
      const socket = new BatchSocket({
        libc: this.#libc,
        address,
        reusePort,
        seed: options.seed,
        opened: (fd) => fds && Atomics.store(fds, place, fd),
        closing: () => fds && Atomics.store(fds, place, -1),
      });
      const listener = new BatchListener(socket, options);
      this.#listeners.push(listener);
      this.#watch();
      return { address: { host: at.host, port: socket.port }, close: async () => this.#close(listener) };
    } catch (error) {
      throw listenFailure(error as NodeJS.ErrnoException, at, "UDP");
    }
  }

  #close(listener: BatchListener): void {
    listener.close();
    const place = this.#listeners.indexOf(listener);
    if (place >= 0) this.#listeners.splice(place, 1);
    this.#watch();
  }

  #watch(): void {
    const fds = [this.#libc.loop, ...this.#listeners.map(({ fd }) => fd)];
    for (const [i, fd] of fds.entries()) {
      this.#poll[2 * i] = fd;
      this.#poll[2 * i + 1] = events.readable;
    }
    if (this.#isRunning || this.#listeners.length === 0) return;
    this.#isRunning = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    let isLoopIdle = true;
    for (let left = mostBatches; isLoopIdle && left > 0; left--) {
      const ready = this.#libc.poll(this.#pollAt, BigInt(1 + this.#listeners.length), this.#patience());
      if (ready <= 0 && !this.#hasMore()) break;
      isLoopIdle = this.#eventsOf(0) === 0;
      for (let i = 0; i < this.#listeners.length; i++) {
        const listener = this.#listeners[i];
        if (listener?.take(this.#eventsOf(i + 1) !== 0) === "loop") isLoopIdle = false;
      }
    }
    // After a turn in which it did something, the loop may have more to wait for, which its descriptor does not show
    // before its next turn.
    this.#isSettled = isLoopIdle;
    this.#isRunning = this.#listeners.length > 0;
    if (this.#isRunning) setImmediate(this.#run);
  };

  #hasMore(): boolean {
    return this.#listeners.some((listener) => listener.hasMore());
  }

  #eventsOf(i: number): number {
    const given = (this.#poll[2 * i + 1] ?? 0) >>> 16;
    if ((given & events.invalid) !== 0) throw new Error("a socket was closed by somebody else");
    return given;
  }

  /** How long the thread may wait in the kernel: neither timers nor callbacks run meanwhile. */
  #patience(): number {
    if (!this.#isSettled || this.#hasMore()) return 0;
    let most = longestWait;
    for (const kind of process.getActiveResourcesInfo()) {
      if (kind === "Immediate") return 0;
      if (kind === "Timeout") most = besideTimers;
    }
    return most;
  }
}

/** One socket and its answers. */
class BatchListener {
  readonly fd: number;
  readonly #socket: BatchSocket;
  readonly #answers: DatagramAnswers<BatchClient>;
  readonly #limits = { network: 0, isLocal: false };
  readonly #atHand: UdpOptions["atHand"];
  #endPass: (() => void) | undefined;

  constructor(socket: BatchSocket, options: UdpOptions) {
    this.fd = socket.fd;
    this.#socket = socket;
    this.#atHand = options.atHand;
    this.#answers = answerDatagrams<BatchClient>(options, {
      clock: () => performance.now(),
      atEndOfPass: (end) => {
        this.#endPass = end;
      },
      send: (reply, client) => socket.send(reply, client),
    });
  }

  /** Queries were deferred to the next pass, or replies are to be sent. */
  hasMore(): boolean {
    return this.#endPass !== undefined || this.#socket.hasReplies();
  }

  /** Answers what has arrived. `loop`: a query may wait for something that the event loop brings. */
  take(isReadable: boolean): "loop" | "nothing" {
    const count = isReadable ? this.#socket.receive() : 0;
    const now = Date.now();
    let asked = 0;
    for (let i = 0; i < count; i++) if (this.#takeOne(i, now)) asked += 1;
    const end = this.#endPass;
    this.#endPass = undefined;
    end?.();
    this.#socket.flush();
    return asked > 0 ? "loop" : "nothing";
  }

  close(): void {
    this.#answers.close();
    this.#socket.close();
  }

  #takeOne(i: number, now: Instant): boolean {
    const socket = this.#socket;
    // Port 0 cannot be sent to; only forged packets come from there.
    if (socket.portOf(i) === 0) return false;
    socket.limitsOf(i, this.#limits);
    if (!this.#answers.admit(this.#limits, now) || this.#isAnsweredInPlace(i, now)) return false;
    this.#answers.answer(Buffer.from(this.#queryOf(i)), socket.clientOf(i));
    return true;
  }

  #isAnsweredInPlace(i: number, now: Instant): boolean {
    const socket = this.#socket;
    const reply = socket.replyBuffer();
    const length = this.#atHand?.(socket.bufferOf(i), socket.lengthOf(i), reply) ?? 0;
    if (length === 0) return false;
    const verdict = this.#answers.judge(reply, this.#limits, now);
    if (verdict === "send") socket.replyTo(i, length);
    if (verdict === "truncate")
      socket.send(truncate(Buffer.from(reply.subarray(0, length)), this.#queryOf(i)), socket.clientOf(i));
    return true;
  }

  #queryOf(i: number): Buffer {
    return this.#socket.bufferOf(i).subarray(0, this.#socket.lengthOf(i));
  }
}
