import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import {
  DeletedAnswer,
  GatewayAnswer,
  PrimaryServerAnswer,
  PrimaryServerInput,
  PrimaryServersAnswer,
} from "../../contract/records-v1.ts";
import { sendRefused } from "../http/refused-requests.ts";
import type { RecordService } from "../service/service.ts";
import { type NotDone, refused } from "../service/sight.ts";
import type { PlacedServer } from "../service/zones/primary-servers.ts";
import { deniedBody, errorOf } from "./errors.ts";
import { primaryServerFromWire } from "./input.ts";
import { primaryServerPlace, primaryServerToWire, zeroPrimaryServer } from "./wire.ts";

const tags = ["primary servers"];
const params = Type.Object({ id: Type.String() });
const answers = {
  200: PrimaryServerAnswer,
  401: GatewayAnswer,
  403: GatewayAnswer,
  404: PrimaryServerAnswer,
  422: PrimaryServerAnswer,
};

export function primaryServerRoutes(api: FastifyInstance, service: RecordService): void {
  api.get<{ Querystring: Record<string, unknown> }>(
    "/primary_servers",
    {
      schema: {
        tags,
        summary: "List primary servers",
        querystring: Type.Object({ zone_id: Type.Optional(Type.String()) }),
        response: { 200: PrimaryServersAnswer, 401: GatewayAnswer, 404: PrimaryServersAnswer },
      },
    },
    async (request, reply) => {
      const { zone_id: zone } = request.query;
      const servers = await service.primaryServers(request.actor, typeof zone === "string" ? zone : undefined);
      const error = { message: "no primary server found", code: 404 };
      if (servers.length === 0) return reply.code(404).send({ primary_servers: [], error });
      return reply.send({ primary_servers: servers.map(primaryServerToWire) });
    },
  );

  api.post(
    "/primary_servers",
    { schema: { tags, summary: "Add a primary server to a zone", body: PrimaryServerInput, response: answers } },
    async (request, reply) => {
      const input = primaryServerFromWire(request.body);
      const outcome = input.ok
        ? await service.addPrimaryServer(request.actor, input.value.zoneId, input.value.draft)
        : refused(input.faults);
      return send(reply, outcome);
    },
  );

  api.get<{ Params: { id: string } }>(
    "/primary_servers/:id",
    { schema: { tags, summary: "Read a primary server", params, response: answers } },
    async (request, reply) => {
      const place = primaryServerPlace(request.params.id);
      const servers = await service.primaryServers(request.actor, place.zone);
      const placed = servers.find(({ server }) => server.id === place.server);
      return send(reply, placed ? { kind: "done", placed } : { kind: "missing", what: "primary server" });
    },
  );

  api.put<{ Params: { id: string } }>(
    "/primary_servers/:id",
    { schema: { tags, summary: "Replace a primary server", params, body: PrimaryServerInput, response: answers } },
    async (request, reply) => {
      const input = primaryServerFromWire(request.body);
      const place = primaryServerPlace(request.params.id);
      const outcome = input.ok
        ? await service.replacePrimaryServer(request.actor, place, input.value.draft)
        : refused(input.faults);
      return send(reply, outcome.kind === "missing" ? { kind: "missing", what: "primary server" } : outcome);
    },
  );

  api.delete<{ Params: { id: string } }>(
    "/primary_servers/:id",
    {
      schema: {
        tags,
        summary: "Remove a primary server; without its last one a zone has its records to itself",
        params,
        response: { 200: DeletedAnswer, 401: GatewayAnswer, 403: GatewayAnswer, 404: DeletedAnswer },
      },
    },
    async (request, reply) => {
      const outcome = await service.deletePrimaryServer(request.actor, primaryServerPlace(request.params.id));
      if (outcome.kind === "done") return reply.send({ error: {} });
      return outcome.kind === "missing" ? reply.code(404).send({ error: notFound }) : send(reply, outcome);
    },
  );
}

const notFound = { message: "primary server not found", code: 404 };

function send(
  reply: FastifyReply,
  outcome: { readonly kind: "done"; readonly placed: PlacedServer } | NotDone,
): FastifyReply {
  switch (outcome.kind) {
    case "done":
      return reply.send({ primary_server: primaryServerToWire(outcome.placed) });
    case "missing":
      return outcome.what === "zone"
        ? sendRefused(reply, { primary_server: zeroPrimaryServer, error: { message: "zone not found", code: 422 } })
        : reply.code(404).send({ primary_server: zeroPrimaryServer, error: notFound });
    case "denied":
      return reply.code(403).send(deniedBody(outcome.because));
    case "refused":
      return sendRefused(reply, { primary_server: zeroPrimaryServer, error: errorOf(outcome.faults, {}) });
    default:
      return outcome satisfies never;
  }
}
