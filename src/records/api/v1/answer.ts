import type { FastifyReply } from "fastify";
import type { NotDone } from "../../queries/permitted-view.ts";
import { sendRefused } from "../shared/refused-requests.ts";
import { deniedBody, errorOf } from "./errors.ts";
import { subjectOf } from "./input.ts";
import { zeroPrimaryServer, zeroRecord, zeroZone } from "./wire.ts";

/** The resources of the v1 API, with the zero object that an error answer carries. */
export const resources = {
  zone: { zone: zeroZone },
  record: { record: zeroRecord },
  "primary server": { primary_server: zeroPrimaryServer },
};

type Resource = keyof typeof resources;

export function sendNotDone(reply: FastifyReply, resource: Resource, notDone: NotDone, body?: unknown): FastifyReply {
  switch (notDone.kind) {
    case "missing": {
      const error = notFound(notDone.what);
      if (notDone.what === resource) return reply.code(404).send({ ...resources[resource], error });
      // Something missing that only the body names is a 422, not a 404.
      return sendRefused(reply, { ...resources[resource], error: { ...error, code: 422 } });
    }
    case "denied":
      return reply.code(403).send(deniedBody(notDone.because));
    case "refused":
      return sendRefused(reply, { ...resources[resource], error: errorOf(notDone.faults, subjectOf(body)) });
    default:
      return notDone satisfies never;
  }
}

export const notFound = (what: string) => ({ message: `${what} not found`, code: 404 });
