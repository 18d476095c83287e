import { createServer, isIPv6, type Server, type Socket } from "node:net";
import { boundTo, type ListenAddress } from "../../lib/http/listen.ts";
import { ConnectionLimit, partOfFiles } from "../../lib/limits/connection-limit.ts";
import type { Logger } from "../../process/log.ts";
import type { RespondTo, Stream } from "../answer/respond.ts";
import { createDnsCounters, type DnsCounters } from "../metrics/metrics.ts";
import type { ServerIdentity } from "../wire/edns-options.ts";
import { listenFailure } from "./failure.ts";
import { serveConnection, type TcpLimits } from "./tcp-connection.ts";
import { createTlsWrap, type ServerTls } from "./tls.ts";
import type { Listening } from "./udp.ts";

export type TcpOptions = {
  readonly respond: RespondTo;
  readonly stream?: Stream | undefined;
  readonly counters?: DnsCounters;
  readonly log: Logger;
  readonly identity?: ServerIdentity | undefined;
  readonly reusePort?: boolean;
  readonly limits?: TcpLimits;
  /** With it, clients speak TLS and agree on `dot` (RFC 7858, RFC 9103). */
  readonly tls?: ServerTls | undefined;
  /** Shared by all listening sockets. */
  readonly limit?: ConnectionLimit;
};

export const defaultTcpLimits: TcpLimits = {
  idle: 10_000,
  stalled: 120_000,
  slowest: 4 * 1024,
  waiting: 64,
  unread: 256 * 1024,
};

/** No source may take more than an eighth. */
export function createTcpLimit(log: Pick<Logger, "warn">): ConnectionLimit {
  const all = partOfFiles(4, 1_000);
  return new ConnectionLimit({ all, source: Math.ceil(all / 8) }, log);
}

export async function listenTcp(at: ListenAddress, options: TcpOptions): Promise<Listening> {
  const { respond, stream, log, limits = defaultTcpLimits, counters = createDnsCounters() } = options;
  const { limit = createTcpLimit(log) } = options;
  const wrap = options.tls && createTlsWrap(options.tls);
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: !wrap, noDelay: true }, (socket) => {
    const place = limit.enter(socket.remoteAddress ?? "", () => socket.destroy());
    if (place === undefined) return void socket.destroy();
    connections.add(socket);
    socket.on("close", () => {
      connections.delete(socket);
      place.leave();
    });
    const serve = (plain: Socket) =>
      serveConnection(plain, { respond, stream, identity: options.identity, counts: counters.tcp, limits, place });
    if (wrap) wrap(socket, serve);
    else serve(socket);
  });
  await listen(server, at, options.reusePort ?? false);
  server.on("error", (error) => log.warn({ err: error }, "a connection could not be accepted"));
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
