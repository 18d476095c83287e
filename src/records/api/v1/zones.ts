import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  DeletedAnswer,
  GatewayAnswer,
  ZoneAnswer,
  ZoneInput,
  ZonesAnswer,
  ZonesQuery,
} from "../../../contract/records-v1.ts";
import { zoneNameOf } from "../../../core/names/name.ts";
import type { Zone } from "../../model.ts";
import { missing, type NotDone, refused } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { routesOf } from "../shared/route.ts";
import { notFound, sendNotDone } from "./answer.ts";
import { readFields } from "./input.ts";
import { pagingOf } from "./paging.ts";
import { paginationToWire, zeroPagination, zoneToWire } from "./wire.ts";

const route = routesOf("zones");
const answers = { 200: ZoneAnswer, 403: GatewayAnswer, 404: ZoneAnswer, 422: ZoneAnswer };
/** Seconds. */
const defaultTtl = 86_400;

const listed = route(
  "List zones",
  { querystring: ZonesQuery, response: { 200: ZonesAnswer, 404: ZonesAnswer } },
  { heavy: true },
);

export function zoneRoutes(api: FastifyInstance, service: RecordService): void {
  api.get<{ Querystring: Record<string, unknown> }>("/zones", listed, listZones(service));

  api.post("/zones", route("Create a zone", { body: ZoneInput, response: answers }), createZone(service));

  api.get<{ Params: { id: string } }>(
    "/zones/:id",
    route("Read a zone", { response: answers }),
    async (request, reply) => {
      const { id } = request.params;
      // A published router script sends the name. An id never contains a dot, so this cannot match another zone.
      const zone =
        (await service.zone(request.actor, { zone: id })) ??
        (await service.zone(request.actor, { name: zoneNameOf(id) }));
      return sendZone(reply, service, zone ? { kind: "done", zone } : missing("zone"));
    },
  );

  api.put<{ Params: { id: string } }>(
    "/zones/:id",
    route("Change the TTL of a zone", { body: ZoneInput, response: answers }),
    async (request, reply) => {
      const draft = readFields(ZoneInput, request.body);
      const outcome = draft.ok
        ? await service.changeZone(request.actor, { zone: request.params.id }, draft.value)
        : refused(draft.faults);
      return sendZone(reply, service, outcome, request.body);
    },
  );

  api.delete<{ Params: { id: string } }>(
    "/zones/:id",
    route("Delete a zone with all its records", { response: { ...answers, 200: DeletedAnswer } }),
    async (request, reply) => {
      const outcome = await service.deleteZone(request.actor, { zone: request.params.id });
      return outcome.kind === "done" ? reply.send({ error: {} }) : sendNotDone(reply, "zone", outcome);
    },
  );
}

const listZones =
  (service: RecordService) =>
  async (request: FastifyRequest<{ Querystring: Record<string, unknown> }>, reply: FastifyReply) => {
    const { name, search_name: search } = request.query;
    const named = typeof name === "string" && name !== "" ? { name: zoneNameOf(name) } : {};
    // At most one zone has this name, so paging is ignored.
    const { page, perPage } = pagingOf("name" in named ? {} : request.query, { perPage: 100, most: 100 });
    const searched = typeof search === "string" && search !== "" ? { search: search.toLowerCase() } : {};
    const { items, total } = await service.zones(request.actor, { ...named, ...searched, page, perPage });
    if (total === 0)
      return reply.code(404).send({ zones: [], meta: { pagination: zeroPagination }, error: notFound("zone") });
    const zones = items.map((zone) => zoneToWire(zone, service.nameservers));
    return reply.send({ zones, meta: { pagination: paginationToWire(page, perPage, total) } });
  };

const createZone = (service: RecordService) => async (request: FastifyRequest, reply: FastifyReply) => {
  const draft = readFields(ZoneInput, request.body);
  const outcome = draft.ok
    ? await service.createZone(request.actor, { ...draft.value, ttl: draft.value.ttl ?? defaultTtl })
    : refused(draft.faults);
  // Recordings of the original show 0 in the answer to a create.
  const uncounted = outcome.kind === "done" ? { ...outcome, zone: { ...outcome.zone, recordCount: 0 } } : outcome;
  return sendZone(reply, service, uncounted, request.body);
};

export const sendZone = (
  reply: FastifyReply,
  service: RecordService,
  outcome: { readonly kind: "done"; readonly zone: Zone } | NotDone,
  body?: unknown,
): FastifyReply =>
  outcome.kind === "done"
    ? reply.send({ zone: zoneToWire(outcome.zone, service.nameservers) })
    : sendNotDone(reply, "zone", outcome, body);
