import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { TlsOptions, Server as TlsServer } from "node:tls";
import type { Pair } from "../tls/issue-certificate.ts";
import { cutAllConnections, followConnections } from "./listen.ts";
import { scheduledServer, scheduleRequests } from "./schedule-requests.ts";

const leastTls = "TLSv1.2";

/** Node refuses a handshake that offers none of these; `curl --http1.0` and old clients offer only the last. */
const spoken = ["http/1.1", "http/1.0"];

/** The TLS options of every server. No HTTP/2: decisions/0018. */
export const handshake = { minVersion: leastTls, ALPNProtocols: spoken, handshakeTimeout: 10_000 } as const;

/** Switches to a renewed certificate without a restart. */
export const showPair = (server: TlsServer, pair: Pair): void =>
  server.setSecureContext({ ...pair, minVersion: leastTls });

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * HTTPS with a limit on every wait, without a framework: the service mostly waits, and has to fit on a small router
 * (docs/firewall.md, "What it costs").
 */
export function createTlsServer(pair: Pair & Pick<TlsOptions, "SNICallback">, handle: Handle): Server {
  const server = createServer(
    {
      ...pair,
      ...handshake,
      ...scheduledServer,
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
    },
    handle,
  );
  scheduleRequests(server);
  server.timeout = 60_000;
  server.maxConnections = 1_000;
  followConnections(server);
  return server;
}

/** Does not wait for requests under way. */
export function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  cutAllConnections(server);
  return promise;
}
