import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer, type Server as NetServer } from "node:net";
import type { TlsOptions } from "node:tls";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Logger } from "../../process/log.ts";
import { createHistogram, type Histogram, observe } from "../../process/metrics.ts";
import type { ProxyTrust } from "./client-address.ts";
import { GradualResponse } from "./gradual-response.ts";
import {
  boundTo,
  createConnectionLimit,
  cutAllConnections,
  type ListenAddress,
  limitConnections,
  listenTrouble,
} from "./listen.ts";
import { handshake } from "./page-server.ts";
import { neverCached, transportSecurity } from "./plain-request.ts";
import { createRequestIds } from "./request-id.ts";
import { scheduledServer, scheduleRequests } from "./schedule-requests.ts";

export type HttpServerOptions = {
  /** Without it the server speaks plain HTTP: only behind a proxy, and in benchmarks. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly SNICallback?: TlsOptions["SNICallback"] };
  readonly bodyLimit: number;
  /** Proxies that are trusted to name the client; none if absent. */
  readonly proxies?: ProxyTrust | undefined;
  /** Answers requests whose path has invalid percent-encoding. They reach no route and no hook. */
  readonly sendBadPath?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** Absent: requests are not counted. */
  readonly counters?: RequestCounters | undefined;
  /** Warns when connections are closed because there are too many. */
  readonly log?: Pick<Logger, "warn">;
  /** When the server closes: milliseconds for requests under way to be answered. */
  readonly closeWithin?: number;
};

/**
 * Requests in one pass of the event loop: as many as clients that write at full speed, so that their writes share a
 * transaction.
 */
const perPass = 64;

/** A server with a limit on every wait. Requests are not logged one by one: that costs more than answering them. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { sendBadPath } = options;
  const limits = {
    bodyLimit: options.bodyLimit,
    requestTimeout: scheduledServer.requestTimeout,
    connectionTimeout: 60_000,
    keepAliveTimeout: scheduledServer.keepAliveTimeout,
    // `answerBeforeClosing` closes the others.
    forceCloseConnections: "idle",
    return503OnClosing: false,
    logger: false,
    // Every GET route answers HEAD (RFC 9110, 9.1): for load balancers, and for clients that only check whether a token
    // is valid.
    exposeHeadRoutes: true,
    // The client DNS::Hetzner writes two slashes before an id.
    routerOptions: { maxParamLength: 300, ignoreDuplicateSlashes: true },
    genReqId: createRequestIds(options.proxies),
    ...(sendBadPath && {
      frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
        void sendBadPath(request, reply.headers(neverCached)),
    }),
  } as const;
  const ownResponse = options.counters && { ServerResponse: options.counters.Response };
  const serverOptions = { ...scheduledServer, ...ownResponse };
  const made = options.tls
    ? fastify({ ...limits, https: { ...options.tls, ...handshake, ...serverOptions } })
    : fastify({ ...limits, http: serverOptions });
  const server = made as unknown as FastifyInstance;
  scheduleRequests(server.server, perPass);
  nameCallers(server, options.proxies);
  const ownTls = options.tls !== undefined;
  server.addHook("onRequest", (request, reply, done) => {
    reply.headers(neverCached);
    // Behind a proxy, the proxy speaks TLS, and its operator decides about this header.
    if (ownTls) reply.headers(transportSecurity(request.headers.host));
    const { counter } = request.routeOptions.config;
    if (counter !== undefined) (reply.raw as { counter?: RouteCounter }).counter = counter;
    done();
  });
  options.counters?.follow(server);
  limitConnections(
    server.server,
    createConnectionLimit(options.log, Number.POSITIVE_INFINITY),
    options.proxies?.isTrusted,
  );
  answerBeforeClosing(server, options.closeWithin ?? 2_000);
  return server;
}

/** When the server closes, requests under way are answered first, for at most `limit` milliseconds. */
function answerBeforeClosing(server: FastifyInstance, limit: number): void {
  let idleTimer: NodeJS.Timeout | undefined;
  let cutTimer: NodeJS.Timeout | undefined;
  server.addHook("preClose", async () => {
    giveLastAnswers(server.server);
    idleTimer = setInterval(() => server.server.closeIdleConnections(), 10);
    cutTimer = setTimeout(() => cutAllConnections(server.server), limit);
  });
  server.addHook("onClose", async () => {
    clearInterval(idleTimer);
    clearTimeout(cutTimer);
  });
}

/**
 * From now on, every answer is the last on its connection. So a proxy that keeps connections open has none left on
 * which it could send a request just when the server closes.
 */
export function giveLastAnswers(server: Server): void {
  server.prependListener("request", (_, response) => {
    response.shouldKeepAlive = false;
  });
}

/**
 * Fastify can do this too, but accepts any text as an address, and returns undefined after the connection is closed.
 */
function nameCallers(server: FastifyInstance, proxies: ProxyTrust | undefined): void {
  const peerOf = ({ raw }: FastifyRequest) => raw.socket.remoteAddress ?? "";
  server.decorateRequest("ip", {
    getter(this: FastifyRequest) {
      return proxies ? proxies.clientOf(peerOf(this), this.raw.headers) : peerOf(this);
    },
  });
  if (proxies === undefined) return;
  server.decorateRequest("protocol", {
    getter(this: FastifyRequest) {
      return proxies.schemeOf(peerOf(this), this.raw.headers) ?? ("encrypted" in this.raw.socket ? "https" : "http");
    },
  });
}

/** Listens, or fails with a message that says what to do. */
export async function listen(
  server: FastifyInstance,
  at: ListenAddress,
  option?: string,
  findAddresses = addressesOfHost,
): Promise<ListenAddress> {
  // Fastify would listen on each address of localhost with a separate server, which `answerBeforeClosing` does not see.
  const [host = at.host, ...others] = await findAddresses(at.host);
  let also: readonly NetServer[] = [];
  let closed: Promise<unknown> | undefined;
  server.addHook("preClose", async () => {
    closed = Promise.all(also.map((each) => new Promise((done) => each.close(done))));
  });
  server.addHook("onClose", async () => void (await closed));
  try {
    await server.listen({ host, port: at.port });
  } catch (error) {
    throw new Error(listenTrouble(error as NodeJS.ErrnoException, at, option), { cause: error });
  }
  const bound = boundTo(server.server, at);
  also = await listenInto(server.server, others, bound.port);
  return bound;
}

/** The name localhost has two addresses on most machines, and a client may try either. */
async function addressesOfHost(host: string): Promise<readonly string[]> {
  if (host !== "localhost") return [host];
  const addresses = await lookup(host, { all: true }).catch(() => []);
  return addresses.length === 0 ? [host] : [...new Set(addresses.map(({ address }) => address))];
}

/**
 * Listens on further addresses and hands their connections to `server`, which treats them as its own. An address that
 * cannot be used is skipped: the machine may have no IPv6.
 */
async function listenInto(server: Server, hosts: readonly string[], port: number): Promise<readonly NetServer[]> {
  const listening: NetServer[] = [];
  for (const host of hosts) {
    const at = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit("connection", socket));
    const isOpen = once(at.listen({ host, port }), "listening");
    await isOpen.then(
      () => listening.push(at),
      () => undefined,
    );
  }
  return listening;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Where requests of the route are counted. */
    counter?: RouteCounter;
  }
}

/**
 * The requests of one route. `route` is its pattern, never a requested path: clients could request any number of paths.
 */
export type RouteCounter = {
  readonly method: string;
  readonly route: string;
  /** In the order of `statuses`. */
  readonly answers: Float64Array;
  readonly seconds: Histogram;
};

export type CountedRoute = {
  readonly method: string;
  readonly route: string;
  readonly answers: readonly { readonly status: number; readonly count: number }[];
  readonly seconds: Histogram;
};

/** Seconds. */
const bounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** More than any service uses; all further statuses count as the last one. */
const mostStatuses = 32;

export class RequestCounters {
  /** By status: its index in `statuses` plus one; 0 if it is not there yet. */
  readonly #places = new Uint8Array(1_000);
  readonly #statuses: number[] = [];
  readonly #counters = new Map<string, RouteCounter>();
  /** Replaces the response class of Node's server: it measures the time to the answer and counts its status. */
  readonly Response = countedResponse(this.#counterOf("", "none"), (counter, begun, status) =>
    this.#count(counter, begun, status),
  );

  /** Gives each route of this server its counter. Call this before any route is added. */
  readonly follow = (server: FastifyInstance): void => {
    server.addHook("onRoute", (route) => {
      const method = Array.isArray(route.method) ? "ANY" : route.method;
      route.config = { ...route.config, counter: this.#counterOf(method, route.url) };
    });
  };

  /** Routes with at least one answer. */
  readonly routes = (): readonly CountedRoute[] => {
    return [...this.#counters.values()].flatMap(({ method, route, answers, seconds }) => {
      const counted = this.#statuses.flatMap((status, i) => {
        const count = answers[i] ?? 0;
        return count > 0 ? [{ status, count }] : [];
      });
      return counted.length > 0 ? [{ method, route, answers: counted, seconds }] : [];
    });
  };

  #counterOf(method: string, route: string): RouteCounter {
    const name = `${method} ${route}`;
    const ownCounter = this.#counters.get(name);
    if (ownCounter !== undefined) return ownCounter;
    const answers = new Float64Array(mostStatuses);
    const counter = { method, route, answers, seconds: createHistogram(bounds) };
    this.#counters.set(name, counter);
    return counter;
  }

  #count({ answers, seconds }: RouteCounter, begun: number, status: number): void {
    const place = (this.#places[status] || this.#newPlace(status)) - 1;
    answers[place] = (answers[place] as number) + 1;
    observe(seconds, (performance.now() - begun) / 1_000);
  }

  #newPlace(status: number): number {
    if (this.#statuses.length < mostStatuses) this.#statuses.push(status);
    this.#places[status] = this.#statuses.length;
    return this.#statuses.length;
  }
}

/** A response class that calls `count` once per answer; `unrouted` counts requests without a route. */
const countedResponse = (
  unrouted: RouteCounter,
  count: (counter: RouteCounter, begun: number, status: number) => void,
): typeof ServerResponse =>
  class<Request extends IncomingMessage = IncomingMessage> extends GradualResponse<Request> {
    readonly begun = performance.now();
    counter: RouteCounter = unrouted;

    override writeHead(status: number, ...rest: never[]): this {
      count(this.counter, this.begun, status);
      return super.writeHead(status, ...rest);
    }
  };
