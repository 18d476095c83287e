import type { FastifyInstance, FastifySchemaCompiler } from "fastify";
import type { Instant } from "../../../core/instant.ts";
import type { CallLimits } from "../../../lib/limits/rate-limit.ts";
import type { Logger } from "../../../process/log.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import type { RecordStore } from "../../store/port.ts";
import { type AccessCheck, type ReadBody, readBodiesBy, scheduleHeavyRequests } from "./admit-body.ts";
import { createFailureNotes, type NoteFailure } from "./failed-requests.ts";
import { noteRefusals } from "./refused-requests.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; set before any handler runs. */
    actor: Actor;
  }
}

export type RecordApiOptions = {
  readonly service: RecordService;
  readonly store: RecordStore;
  readonly now: () => Instant;
  readonly log: Logger;
  /** Absent: no limit. */
  readonly limits?: CallLimits;
};

/** What the v1 and the record-set API share: the actor of a request, one body parser, and turns for heavy requests. */
export function setUpApi(
  api: FastifyInstance,
  { service, log, now }: RecordApiOptions,
  bodies: { readonly read: ReadBody; readonly largest: number },
  admitted: AccessCheck,
): NoteFailure {
  api.decorateRequest("actor");
  noteRefusals(api, log, now);
  readBodiesBy(api, bodies.read, bodies.largest);
  scheduleHeavyRequests(api, service.schedule, admitted);
  // The input.ts of each API validates requests, with its own messages. Fastify gets the schemas for the
  // documentation only, and calls no validator where there is none.
  api.setValidatorCompiler((() => undefined) as unknown as FastifySchemaCompiler<unknown>);
  return createFailureNotes(log, now);
}
