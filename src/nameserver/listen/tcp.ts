import { createServer, isIPv6, type Server, type Socket } from "node:net";
import { boundTo } from "../../process/http/listen-on.ts";
import type { ListenAddress } from "../../process/listen-address.ts";
import type { Logger } from "../../process/log.ts";
import type { RespondTo, Stream } from "../answer/respond.ts";
import { createDnsCounters, type DnsCounters } from "../metrics/counters.ts";
import { listenFailure } from "./failure.ts";
import { serveConnection, type TcpLimits } from "./tcp-connection.ts";
import type { Listening } from "./udp.ts";

export type TcpOptions = {
  readonly respond: RespondTo;
  readonly stream?: Stream | undefined;
  readonly counters?: DnsCounters;
  readonly log: Logger;
  readonly reusePort?: boolean;
  readonly limits?: TcpLimits;
};

export const defaultTcpLimits: TcpLimits = {
  connections: 1_000,
  idle: 10_000,
  stalled: 120_000,
  waiting: 64,
  unread: 256 * 1024,
};

export async function listenTcp(at: ListenAddress, options: TcpOptions): Promise<Listening> {
  const { respond, log, limits = defaultTcpLimits, counters = createDnsCounters() } = options;
  /** In the order in which they last asked something. */
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const [longestIdle] = connections;
    if (connections.size >= limits.connections) longestIdle?.destroy();
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
    const asked = () => {
      connections.delete(socket);
      connections.add(socket);
    };
    serveConnection(socket, { respond, stream: options.stream, counts: counters.tcp, limits, asked, log });
  });
  await listen(server, at, options.reusePort ?? false);
  server.on("error", (error) => log.warn({ err: error }, "a connection could not be taken"));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of connections) socket.destroy();
    });
  return { address: boundTo(server, at), close };
}

function listen(server: Server, { host, port }: ListenAddress, reusePort: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenFailure(error, { host, port }, "TCP")));
    server.listen({ host, port, reusePort, ipv6Only: isIPv6(host) && host !== "::", backlog: 511 }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}
