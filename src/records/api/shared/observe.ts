import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { type Health, withoutReasons } from "../../../process/health.ts";
import type { Logger } from "../../../process/log.ts";
import { createFailureNotes, type FailedRequest, failureText } from "./failed-requests.ts";

export type ObserveOptions = {
  readonly health: Health;
  readonly log: Logger;
  /** Logs every request. */
  readonly accessLog?: boolean | undefined;
};

/** For operators, shared by all APIs: health, the access log, and failures that no API handles. */
export function observeHttp(server: FastifyInstance, { health, log, accessLog = false }: ObserveOptions): void {
  if (accessLog) {
    server.addHook("onResponse", async (request, reply) => log.info(accessLine(request, reply), "request"));
  }
  const noteFailure = createFailureNotes(log, Date.now);
  server.setErrorHandler((error: FailedRequest, { id }, reply) => {
    if ((error.statusCode ?? 500) < 500) return reply.send(error);
    noteFailure(error, id);
    reply.code(500).header("x-request-id", id);
    if (error instanceof StoreBusy) reply.code(503).header("retry-after", error.retryAfter);
    return reply.send({ error: { message: failureText(error, id) } });
  });
  const hide = { schema: { hide: true } };
  server.get("/health/live", hide, async (_, reply) => reply.send({ live: true }));
  server.get("/health/ready", hide, async (_, reply) => {
    const readiness = withoutReasons(await health.readiness());
    return await reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
}

const longestPath = 300;

/** Without headers, query and body: any of them may contain a secret. */
function accessLine(request: FastifyRequest, reply: FastifyReply) {
  return {
    request: request.id,
    from: request.ip,
    method: request.method,
    path: (request.url.split("?", 1)[0] ?? "").slice(0, longestPath),
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 100) / 100,
    ...(request.actor && { actor: request.actor.label }),
  };
}
