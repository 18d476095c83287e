import { createSocket, type Socket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";

/** A socket that receives from one peer only. */
export type UdpPeer = {
  /** The local address and port of the socket. */
  readonly own: { readonly address: string; readonly port: number };
  /** The peer's address, resolved if it was given by name. */
  readonly address: string;
  /** Sends until there is an answer that `read` accepts; undefined if there is none. Never throws. */
  ask<T>(message: Uint8Array, read: (answer: Buffer) => T | undefined, signal: AbortSignal): Promise<T | undefined>;
  close(): void;
};

/**
 * RFC 6886, 3.1: retry after 250 ms, doubled each time. The RFC wants nine tries and two minutes, but a gateway on the
 * local network is faster.
 */
const pauses = [250, 500, 1_000, 2_000];

/** Undefined if there is no route to the peer. */
export async function openUdpPeer(address: string, port: number): Promise<UdpPeer | undefined> {
  const socket = createSocket("udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(port, address, resolve);
    });
  } catch {
    socket.close();
    return undefined;
  }
  return {
    own: socket.address(),
    address: socket.remoteAddress().address,
    ask: (message, read, signal) => ask(socket, message, read, signal),
    close: () => socket.close(),
  };
}

async function ask<T>(
  socket: Socket,
  message: Uint8Array,
  read: (answer: Buffer) => T | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  const over = new AbortController();
  const stopped = AbortSignal.any([signal, over.signal]);
  let answer: T | undefined;
  const hear = (packet: Buffer) => {
    answer ??= read(packet);
    if (answer !== undefined) over.abort();
  };
  // "Port unreachable": nothing listens there.
  const refuse = () => over.abort();
  socket.on("message", hear).on("error", refuse);
  try {
    for (const pause of pauses) {
      if (stopped.aborted) break;
      socket.send(message, (error) => error && refuse());
      await sleep(pause, undefined, { signal: stopped }).catch(() => undefined);
    }
    return answer;
  } finally {
    socket.off("message", hear).off("error", refuse);
    // The last packet may still cause an error.
    socket.on("error", () => undefined);
  }
}
