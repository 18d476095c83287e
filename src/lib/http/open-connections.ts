import type { Server, Socket } from "node:net";

const openOf = new WeakMap<Server, Set<Socket>>();

/** Call this before the server listens. */
export function followConnections(server: Server): void {
  const open = new Set<Socket>();
  openOf.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}

/** Node's `closeAllConnections` skips connections whose TLS handshake has not finished, and `close` waits for them. */
export function cutAllConnections(server: Server): void {
  for (const socket of openOf.get(server) ?? []) socket.destroy();
}
