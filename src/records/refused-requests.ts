import type { FastifyInstance, FastifyReply } from "fastify";
import type { Instant } from "../core/instant.ts";
import type { Logger } from "../process/log.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Tells the log that this request is refused for what it says. */
    noteRefused: (reply: FastifyReply) => void;
  }
}

/** A client that repeats itself must not fill the disk. */
const mostLines = 60;
const minute = 60_000;

/** A line for each refused request, without anything that was sent: a value may be a secret. */
export function noteRefusals(api: FastifyInstance, log: Logger, now: () => Instant): void {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  api.decorate("noteRefused", ({ request, statusCode: status }) => {
    if (now() - since >= minute) {
      if (count > mostLines) log.info({ count: count - mostLines }, "more requests were refused");
      since = now();
      count = 0;
    }
    count += 1;
    if (count > mostLines) return;
    const { id, ip, method, actor, routeOptions } = request;
    const who = actor === undefined ? {} : { actor: actor.label };
    log.info(
      { request: id, from: ip, method, route: routeOptions.url ?? null, status, ...who },
      "a request was refused",
    );
  });
}

export function sendRefused(reply: FastifyReply, body: object): FastifyReply {
  reply.code(422).server.noteRefused(reply);
  return reply.send(body);
}
