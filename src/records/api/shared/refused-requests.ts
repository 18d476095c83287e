import type { FastifyInstance, FastifyReply } from "fastify";
import type { Instant } from "../../../core/instant.ts";
import { createLineLimit, type Logger } from "../../../process/log.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Logs that this request was refused because of its content. */
    noteRefused: (reply: FastifyReply) => void;
  }
}

/** Logs each refused request without its content, because a value may be a secret. */
export function noteRefusals(api: FastifyInstance, log: Logger, now: () => Instant): void {
  const few = createLineLimit(now, (count) => log.info({ count }, "more requests were refused"));
  api.decorate("noteRefused", ({ request, statusCode: status }) => {
    const { id, ip, method, actor, routeOptions } = request;
    const who = actor === undefined ? {} : { actor: actor.label };
    const what = { request: id, from: ip, method, route: routeOptions.url ?? null, status, ...who };
    few(() => log.info(what, "a request was refused"));
  });
}

export function sendRefused(reply: FastifyReply, body: object): FastifyReply {
  reply.code(422).server.noteRefused(reply);
  return reply.send(body);
}
