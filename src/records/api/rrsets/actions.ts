import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answers, queries, type WireAction } from "../../../contract/rrsets.ts";
import type { Fault } from "../../../core/result.ts";
import { badInput } from "../../../core/result.ts";
import { missing } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import type { ActionQuery, ActionStatus, Page } from "../../store/port.ts";
import { routesOf } from "../shared/route.ts";
import { sendError, sendFaults, sendPage, zoneAt } from "./answer.ts";
import { answerTo, errorAnswer } from "./errors.ts";
import { orderAt, pagingAt, type QueryFields, textsAt } from "./paging.ts";
import { actionToWire } from "./wire.ts";

type Wanted = Omit<ActionQuery, "now">;

const route = routesOf("actions");
const statuses: readonly ActionStatus[] = ["running", "success", "error"];
/** Sort keys. Nearly all actions are finished when they begin, so some keys make no difference. */
const fields = ["id", "command", "status", "progress", "started", "finished"] as const;

/** The same actions at three paths, as in the original. */
export function rrsetsActionRoutes(api: FastifyInstance, service: RecordService): void {
  const list = { querystring: queries.actions, response: { 200: answers.actions } };
  const single = { response: { 200: answers.action } };

  const sendOne = async (request: FastifyRequest, reply: FastifyReply, zone?: number) => {
    const { id } = request.params as { id: string };
    const wanted = /^\d{1,16}$/.test(id) ? await actionsIn(request, { ids: [Number(id)], ...(zone && { zone }) }) : [];
    const [action] = wanted;
    return action === undefined
      ? sendError(reply, errorAnswer(404, "not_found", "action not found"))
      : reply.send({ action });
  };
  /** `ids` are as shown to the client. */
  const pageOf = async ({ actor }: FastifyRequest, { ids, ...query }: Wanted): Promise<Page<WireAction>> => {
    const shownIds = await service.shownIdsFor(actor);
    const page = await service.actions(actor, { ...query, ...(ids && { ids: ids.map(shownIds.read) }) });
    return { ...page, items: page.items.map((action) => actionToWire(action, shownIds)) };
  };
  const actionsIn = async (request: FastifyRequest, query: Pick<Wanted, "ids" | "zone">) =>
    (await pageOf(request, { ...query, page: 1, perPage: mostIds })).items;

  const sendList = async (request: FastifyRequest, reply: FastifyReply, zone?: number) => {
    const faults: Fault[] = [];
    const query = actionQueryAt(request.query as QueryFields, faults);
    if (faults.length > 0) return sendFaults(reply, faults);
    const actionsQuery = { ...query, ...(zone && { zone }) };
    const page = await pageOf(request, actionsQuery);
    return sendPage(request, reply, { actions: page.items }, query, page.total);
  };

  api.get("/zones/actions", route("List actions", list), (request, reply) => sendList(request, reply));
  for (const path of ["/zones/actions/:id", "/actions/:id"])
    api.get(path, route("Read an action", single), (request, reply) => sendOne(request, reply));

  const byId = { ...list, querystring: queries.actionsById };
  api.get("/actions", route("Read actions by their ids", byId), async (request, reply) => {
    const faults: Fault[] = [];
    const ids = idsAt(request.query as QueryFields, faults);
    if (ids.length === 0 && faults.length === 0) faults.push(badInput("id", "is missing"));
    if (faults.length > 0) return sendFaults(reply, faults);
    return reply.send({ actions: await actionsIn(request, { ids }) });
  });

  api.get("/zones/:z/actions", route("List actions of a zone", list), async (request, reply) => {
    const zone = await service.openZone(request.actor, zoneAt(request));
    return zone ? await sendList(request, reply, zone.number) : sendError(reply, answerTo(missing("zone")));
  });

  api.get(
    "/zones/:z/actions/:id",
    route("Read an action of a zone", { ...single, deprecated: true }),
    async (request, reply) => {
      const zone = await service.openZone(request.actor, zoneAt(request));
      return zone ? await sendOne(request, reply, zone.number) : sendError(reply, answerTo(missing("zone")));
    },
  );
}

const mostIds = 1_000;

function idsAt(query: QueryFields, faults: Fault[]): readonly number[] {
  const texts = textsAt(query, "id");
  if (texts.length > mostIds) faults.push(badInput("id", `may be given at most ${mostIds} times`));
  if (!texts.every((text) => /^\d{1,16}$/.test(text))) faults.push(badInput("id", "must be an integer"));
  return texts.map(Number);
}

function actionQueryAt(query: QueryFields, faults: Fault[]) {
  const texts = textsAt(query, "status");
  const wanted = statuses.filter((status) => texts.includes(status));
  if (!texts.every((text) => wanted.some((status) => status === text))) {
    faults.push(badInput("status", `must be one of ${statuses.join(", ")}`));
  }
  const ids = idsAt(query, faults);
  const order = orderAt(query, fields, faults).flatMap(({ by, descending }) =>
    by === "status" || by === "progress" ? [] : [{ by: by === "finished" ? ("started" as const) : by, descending }],
  );
  const filters = { ...(ids.length > 0 && { ids }), ...(wanted.length > 0 && { status: wanted }) };
  return { ...pagingAt(query, 50, faults), order, ...filters };
}
