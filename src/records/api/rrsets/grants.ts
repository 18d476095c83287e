import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { answers, bodies } from "../../../contract/rrsets.ts";
import type { RecordService } from "../../service.ts";
import { routesOf } from "../shared/route.ts";
import { act, sendError, zoneAt } from "./answer.ts";
import { answerTo, errorAnswer } from "./errors.ts";
import { textAt } from "./input.ts";
import { grantToWire } from "./wire.ts";

const route = routesOf("grants");

/** Not in the original API: other accounts that may have zones inside or above a zone. */
export function rrsetsGrantRoutes(api: FastifyInstance, service: RecordService): void {
  api.get(
    "/zones/:z/grants",
    route("List who may create zones inside or above a zone", { response: { 200: answers.grants } }),
    async (request, reply) => {
      const outcome = await service.grantsOf(request.actor, zoneAt(request));
      if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
      return reply.send({ grants: outcome.grants.map(grantToWire) });
    },
  );

  api.post(
    "/zones/:z/grants",
    route("Let another account create zones at or below a name in a zone, or at a name above it", {
      body: bodies.grant,
      response: { 201: answers.grant },
    }),
    (request, reply) =>
      act(request, reply, {
        read: (fields, faults) => ({
          account: textAt(fields, "account", faults),
          name: textAt(fields, "name", faults),
        }),
        run: (draft) => service.addGrant(request.actor, zoneAt(request), draft),
        answerOf: ({ grant }) => ({ grant: grantToWire(grant) }),
      }),
  );

  api.delete(
    "/zones/:z/grants/:g",
    route("Revoke a grant; zones that were created with it stay", { response: { 204: Type.Null() } }),
    async (request, reply) => {
      const { g } = request.params as { g: string };
      if (!/^\d{1,15}$/.test(g)) return sendError(reply, noSuchGrant);
      const outcome = await service.revokeGrant(request.actor, zoneAt(request), Number(g));
      if (outcome.kind === "done") return await reply.code(204).send();
      return sendError(reply, outcome.kind === "missing" && outcome.what === "grant" ? noSuchGrant : answerTo(outcome));
    },
  );
}

const noSuchGrant = errorAnswer(404, "not_found", "the zone has no grant with this id");
