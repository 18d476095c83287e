import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answers, bodies, queries } from "../../../contract/rrsets.ts";
import type { Fault } from "../../../core/result.ts";
import type { RecordService } from "../../service.ts";
import { routesOf } from "../shared/route.ts";
import { act, readNothing, sendError, sendFaults, zoneAt } from "./answer.ts";
import { answerTo, errorAnswer } from "./errors.ts";
import { changesFromBody } from "./input.ts";
import { numberAt, pagingAt, type QueryFields } from "./paging.ts";
import { changeToWire } from "./wire.ts";

const route = routesOf("changes");

/** Not in the original API: changing many sets in one transaction, the history, and undo. */
export function rrsetsChangeRoutes(api: FastifyInstance, service: RecordService): void {
  api.post(
    "/zones/:z/changes",
    route(
      "Change many record sets in one transaction",
      { body: bodies.changes, response: { 201: answers.changes } },
      { heavy: true },
    ),
    (request, reply) =>
      act(request, reply, {
        read: changesFromBody,
        run: (wanted, idempotency) => service.changeSets(request.actor, zoneAt(request), wanted, idempotency),
        answerOf,
      }),
  );

  api.get<{ Querystring: QueryFields }>(
    "/zones/:z/history",
    route(
      "List the changes to a zone, newest first",
      { querystring: queries.history, response: { 200: answers.history } },
      { heavy: true },
    ),
    sendHistory(service),
  );

  api.post(
    "/zones/:z/history/:serial/undo",
    route("Undo the write with this serial", { response: { 201: answers.changes } }, { heavy: true }),
    async (request, reply) => {
      const { serial } = request.params as { serial: string };
      if (!/^\d{1,10}$/.test(serial)) return sendError(reply, noSuchChange);
      return await act(request, reply, {
        read: readNothing,
        run: (_, idempotency) => service.undo(request.actor, zoneAt(request), Number(serial), idempotency),
        answerOf,
        refusal: (notDone) =>
          notDone.kind === "missing" && notDone.what !== "zone" ? noSuchChange : answerTo(notDone),
      });
    },
  );
}

const sendHistory =
  (service: RecordService) => async (request: FastifyRequest<{ Querystring: QueryFields }>, reply: FastifyReply) => {
    const faults: Fault[] = [];
    const { perPage: limit } = pagingAt(request.query, 100, faults);
    const before = numberAt(request.query, "before", faults);
    if (faults.length > 0) return sendFaults(reply, faults);
    const shownIds = await service.shownIdsFor(request.actor);
    const query = { limit, ...(before !== undefined && { before: shownIds.read(before) }) };
    const outcome = await service.history(request.actor, zoneAt(request), query);
    if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
    const { rows, next, rest = null } = outcome;
    const meta = { next_before: next === undefined ? null : shownIds.show(next), rest_of_write: rest };
    return reply.send({ history: rows.map((row) => changeToWire(row, shownIds)), meta });
  };

const answerOf = ({ serial }: { readonly serial: number }) => ({ serial });

const noSuchChange = errorAnswer(404, "not_found", "there is no write with this serial");
