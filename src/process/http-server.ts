import { type FastifyInstance, fastify } from "fastify";
import { type ListenAddress, listenTrouble } from "./listen-address.ts";

export type HttpServerOptions = {
  /** Without it the server speaks plain HTTP: only behind a proxy, and in benchmarks. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly bodyLimit: number;
};

/** A server with every wait bounded. Requests are not logged one by one: that costs more than answering them. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const limits = {
    bodyLimit: options.bodyLimit,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: true,
    logger: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 300 },
  } as const;
  const server = options.tls
    ? fastify({ ...limits, https: { ...options.tls, minVersion: "TLSv1.2" } })
    : fastify(limits);
  return server as unknown as FastifyInstance;
}

/** Listens, or says in people's words why it cannot. */
export async function listen(server: FastifyInstance, at: ListenAddress): Promise<ListenAddress> {
  try {
    await server.listen({ host: at.host, port: at.port });
  } catch (error) {
    throw new Error(listenTrouble(error as NodeJS.ErrnoException, at), { cause: error });
  }
  const bound = server.server.address();
  return typeof bound === "object" && bound !== null ? { host: at.host, port: bound.port } : at;
}
