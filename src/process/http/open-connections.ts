import type { Server, Socket } from "node:net";

const openOf = new WeakMap<Server, Set<Socket>>();

/** To be called before the server listens. */
export function followConnections(server: Server): void {
  const open = new Set<Socket>();
  openOf.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}

/** Node's `closeAllConnections` leaves those in place whose TLS handshake has not ended, and a server that closes waits for them. */
export function cutAllConnections(server: Server): void {
  for (const socket of openOf.get(server) ?? []) socket.destroy();
}
