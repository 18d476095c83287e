import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { FileCheckAnswer, GatewayAnswer, ZoneAnswer, ZoneFileText } from "../../../contract/records-v1.ts";
import { fail, ok, type Result } from "../../../core/result.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import { refused } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { holdFor } from "../shared/admit-body.ts";
import { sendRefused } from "../shared/refused-requests.ts";
import { routesOf } from "../shared/route.ts";
import { sendParts } from "../shared/send-parts.ts";
import { resources } from "./answer.ts";
import { fileErrorOf } from "./errors.ts";
import { sendZone } from "./zones.ts";

const route = routesOf("zones");
/** The body is taken as is, whatever the content type. */
const raw = { config: { rawBody: true, largeBody: true } };
const refusals = { 403: GatewayAnswer, 404: ZoneAnswer };

const imported = route(
  "Replace the contents of a zone with a zone file",
  { consumes: ["text/plain"], body: ZoneFileText, response: { 200: ZoneAnswer, ...refusals, 422: ZoneAnswer } },
  raw.config,
);
const exported = route(
  "Read a zone as a zone file",
  {
    response: {
      200: { description: "A zone file", content: { "text/plain": { schema: Type.String() } } },
      ...refusals,
    },
  },
  { heavy: true },
);
const validated = route(
  "Check a zone file; nothing is stored",
  { consumes: ["text/plain"], body: ZoneFileText, response: { 200: FileCheckAnswer, 422: FileCheckAnswer } },
  { ...raw.config, storesNothing: true },
);

export function zoneFileRoutes(api: FastifyInstance, service: RecordService): void {
  api.post<{ Params: { id: string } }>("/zones/:id/import", imported, async (request, reply) => {
    const file = await readText(request, service.schedule);
    const outcome = file.ok
      ? await service.importV1File(request.actor, { zone: request.params.id }, file.value)
      : refused(file.faults);
    return outcome.kind === "refused"
      ? sendRefused(reply, { ...resources.zone, error: fileErrorOf(outcome.faults) })
      : sendZone(reply, service, outcome);
  });

  api.get<{ Params: { id: string } }>("/zones/:id/export", exported, async (request, reply) => {
    if (await service.isLarge(request.actor, request.params.id))
      await holdFor(request.actor.account, reply, service.schedule);
    const outcome = await service.exportZone(request.actor, { zone: request.params.id }, "v1");
    if (outcome.kind !== "done") return sendZone(reply, service, outcome);
    return sendParts(reply, "text/plain", outcome.parts);
  });

  api.post("/zones/file/validate", validated, async (request, reply) => {
    const file = await readText(request, service.schedule);
    const checked = file.ok ? await service.validateZoneFile(request.actor, file.value) : file;
    if (checked.ok) return reply.send({ parsed_records: checked.value, valid_records: [] });
    return sendRefused(reply, { parsed_records: 0, valid_records: [], error: fileErrorOf(checked.faults) });
  });
}

/** In parts: to decode 16 MiB at a time stops the event loop for 20 ms. */
async function readText(
  { body, actor }: FastifyRequest,
  schedule: Pick<FairSchedule, "next">,
): Promise<Result<string>> {
  if (!Buffer.isBuffer(body)) return ok("");
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  try {
    for (let from = 0; from < body.length; from += decodedAtOnce) {
      if (from > 0) await schedule.next(actor.account);
      text += utf8.decode(body.subarray(from, from + decodedAtOnce), { stream: true });
    }
    return ok(text + utf8.decode());
  } catch {
    return fail({ code: "bad-encoding", where: "file", message: "the file is not UTF-8", todo: "save it as UTF-8" });
  }
}

/** Bytes; they take about a millisecond. */
const decodedAtOnce = 1024 * 1024;
