import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Server as TlsServer } from "node:tls";
import type { Pair } from "../tls/issue-certificate.ts";
import { cutAllConnections, followConnections } from "./open-connections.ts";

const leastTls = "TLSv1.2";

/** Node refuses a handshake that offers none of these; `curl --http1.0` and old clients offer the second alone. */
const spoken = ["http/1.1", "http/1.0"];

/** What every server of moor takes. */
export const handshake = { minVersion: leastTls, ALPNProtocols: spoken, handshakeTimeout: 10_000 } as const;

/** The certificate's successor, without a restart. */
export const showPair = (server: TlsServer, pair: Pair): void =>
  server.setSecureContext({ ...pair, minVersion: leastTls });

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * HTTPS with every wait bounded and nothing else: a service that mostly waits on a small router has no room for a framework
 * (docs/firewall.md, "What it costs"). What is not HTTP at all is answered 400 or 431 by Node and closed.
 */
export function createTlsServer(pair: Pair, handle: Handle): Server {
  const server = createServer(
    {
      ...pair,
      ...handshake,
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
    },
    handle,
  );
  server.timeout = 60_000;
  server.maxConnections = 1_000;
  followConnections(server);
  return server;
}

/** Whoever still waits for an answer is cut off. */
export function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  cutAllConnections(server);
  return promise;
}
