import type { Socket } from "node:net";
import { headerLength } from "../../lib/dns/codes.ts";
import { createFrameReader, framed } from "../../lib/dns/message.ts";
import type { ConnectionPermit } from "../../lib/limits/connection-limit.ts";
import type { DnsReply, RespondTo, Stream } from "../answer/respond.ts";
import { countReply } from "../metrics/metrics.ts";
import { optionsIn, replyOptions, type ServerIdentity, withOptions } from "../wire/edns-options.ts";
import { clientAddress } from "./client.ts";

export type TcpLimits = {
  /** Milliseconds without a complete query, or without reading the answers. */
  readonly idle: number;
  /**
   * Milliseconds without reading more of a zone transfer. The kernel buffers megabytes and accepts more only when a
   * third of them has been sent: on a slow line that takes long.
   */
  readonly stalled: number;
  /**
   * Bytes per second that a client must read of a zone transfer, on average since its start but without the first
   * `stalled` milliseconds: otherwise a slow reader would hold a place for hours.
   */
  readonly slowest: number;
  /** Queries of one connection that may wait for their answers. */
  readonly waiting: number;
  /** Bytes of answers that a client may leave unread. */
  readonly unread: number;
};

export type ConnectionOptions = {
  readonly respond: RespondTo;
  readonly stream: Stream | undefined;
  /** By response code; a zone transfer counts as one reply, not one per message. */
  readonly counts: Float64Array;
  readonly limits: TcpLimits;
  readonly identity?: ServerIdentity | undefined;
  readonly place: ConnectionPermit;
};

/**
 * Answers length-prefixed queries (RFC 7766) as each answer is ready, in any order. Reading pauses while too much is
 * unanswered or unread; a client that neither completes a question nor reads its answers for too long is disconnected.
 */
export function serveConnection(socket: Socket, options: ConnectionOptions): void {
  const connection = new TcpConnection(socket, options);
  socket.on("data", (chunk) => connection.read(chunk));
  socket.on("drain", () => connection.drained());
  socket.on("end", () => connection.ended());
  socket.on("error", () => socket.destroy());
  socket.on("close", () => connection.closed());
}

class TcpConnection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #from: string;
  readonly #frames = createFrameReader();
  readonly #timer: NodeJS.Timeout;
  /** Queries without an answer so far. */
  #waiting = 0;
  #ended = false;
  #transfers = 0;
  /** When the first of the running transfers began, and how much the client had read by then. */
  #began = { at: 0, taken: 0 };
  #moved = performance.now();

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#from = socket.remoteAddress ?? "";
    // A zone transfer keeps its place.
    options.place.isBusy = () => this.#transfers > 0;
    this.#timer = setTimeout(() => this.#endIfIdle(), options.limits.idle);
  }

  read(chunk: Buffer): void {
    this.#frames.add(chunk);
    this.#work();
  }

  drained(): void {
    if (this.#isTooSlow()) return void this.#socket.destroy();
    this.#move();
    this.#work();
  }

  ended(): void {
    this.#ended = true;
    this.#work();
  }

  closed(): void {
    clearTimeout(this.#timer);
  }

  #work(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    socket.cork();
    this.#answerWhole();
    socket.uncork();
    if (this.#mayRead()) socket.resume();
    else socket.pause();
    if (this.#ended && this.#waiting === 0 && this.#mayRead()) socket.end();
  }

  #answerWhole(): void {
    const { respond, stream, place } = this.#options;
    while (this.#mayRead()) {
      const query = this.#frames.next();
      if (query === undefined) return;
      if (query.length < headerLength) return void this.#socket.destroy();
      place.used();
      this.#move();
      const messages = stream?.(query, this.#from);
      const reply = messages ? this.#writeAll(messages) : respond(query, "tcp", this.#from);
      if (reply instanceof Promise) void this.#wait(reply, query);
      else this.#answer(reply, query);
    }
  }

  #mayRead(): boolean {
    const { limits } = this.#options;
    return this.#waiting < limits.waiting && this.#socket.writableLength < limits.unread;
  }

  async #wait(reply: Promise<DnsReply>, query: Buffer): Promise<void> {
    this.#waiting += 1;
    try {
      this.#answer(await reply, query);
    } catch {
      // Without a reply the client asks again.
    } finally {
      this.#waiting -= 1;
      this.#work();
    }
  }

  #answer(reply: DnsReply, query: Buffer): void {
    if (reply === undefined) return;
    const { counts, identity } = this.#options;
    countReply(counts, reply);
    const queryOptions = identity && optionsIn(query);
    this.#write(
      queryOptions
        ? withOptions(reply, replyOptions(queryOptions, clientAddress(this.#from), identity, Date.now()).bytes)
        : reply,
    );
  }

  #write(reply: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(framed(reply));
  }

  async #writeAll(messages: AsyncIterable<Buffer>): Promise<undefined> {
    const socket = this.#socket;
    const { place, limits } = this.#options;
    if (this.#transfers === 0) this.#began = { at: performance.now(), taken: this.#takenSoFar() };
    this.#transfers += 1;
    try {
      for await (const message of messages) {
        this.#write(message);
        if (socket.destroyed) return undefined;
        if (socket.writableLength >= limits.unread) await taken(socket);
      }
      await flushed(socket);
    } finally {
      this.#transfers -= 1;
      place.used();
    }
    return undefined;
  }

  #move(): void {
    this.#moved = performance.now();
    this.#timer.refresh();
  }

  #endIfIdle(): void {
    const socket = this.#socket;
    // The client has read everything so far and waits for us: preparing a large zone takes time, above all on a busy
    // machine, and an update waits for the database.
    if (this.#waiting > 0 && socket.writableLength === 0) return this.#move();
    const sinceMove = performance.now() - this.#moved;
    const taking = this.#transfers > 0 && socket.writableLength > 0 && sinceMove < this.#options.limits.stalled;
    if (taking && !this.#isTooSlow()) this.#timer.refresh();
    else socket.destroy();
  }

  #isTooSlow(): boolean {
    const { stalled, slowest } = this.#options.limits;
    const grace = performance.now() - this.#began.at - stalled;
    return this.#transfers > 0 && grace > 0 && this.#takenSoFar() - this.#began.taken < (grace / 1_000) * slowest;
  }

  #takenSoFar(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }
}

/** Resolves when the write buffer has drained, or the connection is closed. */
function taken(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Resolves when everything has been written, or the connection is closed: a small buffer emits no `drain`. */
const flushed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed || socket.writableLength === 0) resolve();
    else socket.write("", () => resolve());
  });
