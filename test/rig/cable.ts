import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A TCP proxy to a server. It can be cut, and it can go silent like a broken network: no data passes, and no
 * connection ends.
 */
export type Cable = {
  readonly port: number;
  /** Ends every connection; new ones are accepted. */
  readonly cut: () => void;
  /** From now on nothing passes in either direction, and new connections lead nowhere. */
  readonly silence: () => void;
  /** New connections work again; silenced ones are closed. */
  readonly mend: () => void;
  readonly close: () => Promise<void>;
};

export async function layCable(to: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  let silent = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    return socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (silent) return;
    const far = keep(connect(to, "127.0.0.1"));
    near.pipe(far).pipe(near);
    near.on("close", () => silent || far.destroy());
    far.on("close", () => silent || near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    silence: () => {
      silent = true;
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    mend: () => {
      silent = false;
      cut();
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
