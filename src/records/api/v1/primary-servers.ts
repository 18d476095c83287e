import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import {
  DeletedAnswer,
  GatewayAnswer,
  PrimaryServerAnswer,
  PrimaryServerInput,
  PrimaryServersAnswer,
} from "../../../contract/records-v1.ts";
import type { ServerInZone } from "../../commands/requests.ts";
import { missing, type NotDone, refused } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { routesOf } from "../shared/route.ts";
import { notFound, sendNotDone } from "./answer.ts";
import { readFields } from "./input.ts";
import { primaryServerPlace, primaryServerToWire } from "./wire.ts";

const route = routesOf("primary servers");
const answers = {
  200: PrimaryServerAnswer,
  403: GatewayAnswer,
  404: PrimaryServerAnswer,
  422: PrimaryServerAnswer,
};

const listed = route("List primary servers", {
  querystring: Type.Object({ zone_id: Type.Optional(Type.String()) }),
  response: { 200: PrimaryServersAnswer, 404: PrimaryServersAnswer },
});
const added = route("Add a primary server to a zone", { body: PrimaryServerInput, response: answers });
const replaced = route("Replace a primary server", { body: PrimaryServerInput, response: answers });
const removed = route("Remove a primary server; a zone that has lost its last one becomes a primary zone", {
  response: { 200: DeletedAnswer, 403: GatewayAnswer, 404: DeletedAnswer },
});

type ById = { Params: { id: string } };

export function primaryServerRoutes(api: FastifyInstance, service: RecordService): void {
  api.get<{ Querystring: Record<string, unknown> }>("/primary_servers", listed, async (request, reply) => {
    const { zone_id: zone } = request.query;
    const servers = await service.primaryServers(request.actor, typeof zone === "string" ? zone : undefined);
    const error = { message: "no primary server found", code: 404 };
    if (servers.length === 0) return reply.code(404).send({ primary_servers: [], error });
    return reply.send({ primary_servers: servers.map(primaryServerToWire) });
  });

  api.post("/primary_servers", added, async (request, reply) => {
    const input = readFields(PrimaryServerInput, request.body);
    const outcome = input.ok
      ? await service.addPrimaryServer(request.actor, input.value.zone_id, input.value)
      : refused(input.faults);
    return send(reply, outcome);
  });

  api.get<ById>(
    "/primary_servers/:id",
    route("Read a primary server", { response: answers }),
    async (request, reply) => {
      const place = primaryServerPlace(request.params.id);
      const servers = await service.primaryServers(request.actor, place.zone);
      const serverInZone = servers.find(({ server }) => server.id === place.server);
      return send(reply, serverInZone ? { kind: "done", serverInZone } : missing("primary server"));
    },
  );

  api.put<ById>("/primary_servers/:id", replaced, async (request, reply) => {
    const input = readFields(PrimaryServerInput, request.body);
    const place = primaryServerPlace(request.params.id);
    const outcome = input.ok
      ? await service.replacePrimaryServer(request.actor, place, input.value)
      : refused(input.faults);
    return send(reply, outcome.kind === "missing" ? missing("primary server") : outcome);
  });

  api.delete<ById>("/primary_servers/:id", removed, async (request, reply) => {
    const outcome = await service.deletePrimaryServer(request.actor, primaryServerPlace(request.params.id));
    if (outcome.kind === "done") return reply.send({ error: {} });
    return outcome.kind === "missing"
      ? reply.code(404).send({ error: notFound("primary server") })
      : sendNotDone(reply, "primary server", outcome);
  });
}

const send = (
  reply: FastifyReply,
  outcome: { readonly kind: "done"; readonly serverInZone: ServerInZone } | NotDone,
): FastifyReply =>
  outcome.kind === "done"
    ? reply.send({ primary_server: primaryServerToWire(outcome.serverInZone) })
    : sendNotDone(reply, "primary server", outcome);
