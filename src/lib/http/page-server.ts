import type { IncomingMessage, Server as PlainPages, ServerResponse } from "node:http";
import type { Server as TlsPages } from "node:https";
import type { TlsOptions, Server as TlsServer } from "node:tls";
import type { Logger } from "../../process/log.ts";
import type { Pair } from "../tls/issue-certificate.ts";
import { createConnectionLimit, cutAllConnections, limitConnections } from "./listen.ts";
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

type PageServerOptions = {
  readonly handle: Handle;
  /** Warns when connections are closed because there are too many. */
  readonly log?: Pick<Logger, "warn"> | undefined;
  /** Connections. */
  readonly most?: number;
};

/**
 * The listener of everything but the record service: a limit on every wait and on connections, without a framework. It
 * mostly waits, and has to fit on a small router (docs/firewall.md, "What it costs").
 */
export function createTlsServer(pair: Pair & Pick<TlsOptions, "SNICallback">, options: PageServerOptions): TlsPages {
  const { createServer } = process.getBuiltinModule("node:https");
  return governed(createServer({ ...pair, ...handshake, ...scheduledServer }, options.handle), options);
}

/** Pages without TLS. */
export const createPlainServer = (options: PageServerOptions): PlainPages =>
  governed(process.getBuiltinModule("node:http").createServer(scheduledServer, options.handle), options);

function governed<S extends PlainPages>(server: S, { log, most = 1_000 }: PageServerOptions): S {
  scheduleRequests(server);
  limitConnections(server, createConnectionLimit(log, most));
  server.timeout = 60_000;
  return server;
}

/** Does not wait for requests under way. */
export function closeServer(server: PlainPages): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  cutAllConnections(server);
  return promise;
}
