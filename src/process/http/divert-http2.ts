import type { Server } from "node:https";
import type { TLSSocket } from "node:tls";

export type TakeConnection = (socket: TLSSocket) => void;

/**
 * Lets an HTTPS server also speak HTTP/2: the connections that negotiated `h2` are given to what `load` returns. Node's own server
 * for both would treat HTTP/1.1 differently from its HTTPS server. `load` is called for the first such connection.
 */
export function divertHttp2(server: Server, load: () => Promise<TakeConnection>): void {
  const http1 = server.listeners("secureConnection");
  let take: Promise<TakeConnection> | undefined;
  const takeHttp2 = async (socket: TLSSocket): Promise<void> => {
    take ??= load();
    const taken = await take;
    if (!socket.destroyed) taken(socket);
  };
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") void takeHttp2(socket).catch(() => socket.destroy());
    else for (const each of http1) each.call(server, socket);
  });
}
