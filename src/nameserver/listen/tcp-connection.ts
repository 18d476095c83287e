import type { Socket } from "node:net";
import { headerLength } from "../../lib/dns/codes.ts";
import { createFrameReader, framed } from "../../lib/dns/message.ts";
import type { Reply, RespondTo, Stream } from "../answer/respond.ts";
import { countReply } from "../metrics/metrics.ts";
import { optionsIn, replyOptions, type ServerIdentity, withOptions } from "../wire/edns-options.ts";
import type { TcpPlace } from "./tcp-places.ts";

export type TcpLimits = {
  /** Milliseconds without a complete query, or without reading the answers. */
  readonly idle: number;
  /**
   * Milliseconds without reading more of a zone transfer. The kernel buffers megabytes and accepts more only when a third of them
   * has been sent: on a slow line that takes long.
   */
  readonly stalled: number;
  /**
   * Bytes per second that a client must read of a zone transfer, on average since its start but without the first `stalled`
   * milliseconds: otherwise a slow reader would hold a place for hours.
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
  readonly place: Pick<TcpPlace, "asked" | "busy">;
};

/**
 * Answers length-prefixed queries (RFC 7766) as each answer is ready, in any order. Reading pauses while too much is
 * unanswered or unread; a client that neither completes a question nor reads its answers for too long is disconnected.
 */
export function serveConnection(socket: Socket, options: ConnectionOptions): void {
  const { respond, stream, counts, limits, place, identity } = options;
  const from = socket.remoteAddress ?? "";
  const frames = createFrameReader();
  let waiting = 0;
  let ended = false;
  let transfers = 0;
  let began = { at: 0, taken: 0 };
  let moved = performance.now();
  const takenSoFar = () => socket.bytesWritten - socket.writableLength;
  const isTooSlow = () => {
    const grace = performance.now() - began.at - limits.stalled;
    return transfers > 0 && grace > 0 && takenSoFar() - began.taken < (grace / 1_000) * limits.slowest;
  };
  const endIfIdle = () => {
    // The client has read everything so far and waits for us: preparing a large zone takes time, above all on a busy machine, and an update
    // waits for the database.
    if (waiting > 0 && socket.writableLength === 0) return move();
    const taking = transfers > 0 && socket.writableLength > 0 && performance.now() - moved < limits.stalled;
    if (taking && !isTooSlow()) timer.refresh();
    else socket.destroy();
  };
  const timer = setTimeout(endIfIdle, limits.idle);
  const move = () => {
    moved = performance.now();
    timer.refresh();
  };

  const mayRead = () => waiting < limits.waiting && socket.writableLength < limits.unread;

  const write = (reply: Reply) => {
    if (reply !== undefined && !socket.destroyed) socket.write(framed(reply));
  };

  const answer = (reply: Reply, query: Buffer) => {
    if (reply === undefined) return;
    countReply(counts, reply);
    const asked = identity && optionsIn(query);
    write(asked ? withOptions(reply, replyOptions(asked, from, identity, Date.now()).bytes) : reply);
  };

  const wait = async (reply: Promise<Reply>, query: Buffer) => {
    waiting += 1;
    try {
      answer(await reply, query);
    } catch {
      // Without a reply the client asks again.
    } finally {
      waiting -= 1;
      work();
    }
  };

  const writeAll = async (messages: AsyncIterable<Buffer>) => {
    if (transfers === 0) began = { at: performance.now(), taken: takenSoFar() };
    transfers += 1;
    place.busy(true);
    try {
      for await (const message of messages) {
        write(message);
        if (socket.destroyed) return undefined;
        if (socket.writableLength >= limits.unread) await taken(socket);
      }
      await flushed(socket);
    } finally {
      transfers -= 1;
      if (transfers === 0) place.busy(false);
    }
    return undefined;
  };

  const answerWhole = () => {
    while (mayRead()) {
      const query = frames.next();
      if (query === undefined) return;
      if (query.length < headerLength) return void socket.destroy();
      place.asked();
      move();
      const messages = stream?.(query, from);
      const reply = messages ? writeAll(messages) : respond(query, "tcp", from);
      if (reply instanceof Promise) void wait(reply, query);
      else answer(reply, query);
    }
  };

  const work = () => {
    if (socket.destroyed) return;
    socket.cork();
    answerWhole();
    socket.uncork();
    if (mayRead()) socket.resume();
    else socket.pause();
    if (ended && waiting === 0 && mayRead()) socket.end();
  };

  socket.on("data", (chunk) => {
    frames.add(chunk);
    work();
  });
  socket.on("drain", () => {
    if (isTooSlow()) return void socket.destroy();
    move();
    work();
  });
  socket.on("end", () => {
    ended = true;
    work();
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => clearTimeout(timer));
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
