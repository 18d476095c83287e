import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  DeletedAnswer,
  GatewayAnswer,
  RecordAnswer,
  RecordInput,
  RecordsAnswer,
  RecordsQuery,
} from "../../../contract/records-v1.ts";
import { faultInWords } from "../../../core/result.ts";
import { joinInParts, mapInSteps, type Steps, sortInSteps } from "../../../core/steps.ts";
import type { RecordInZone } from "../../model.ts";
import { missing, type NotDone, refused } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { holdFor } from "../shared/admit-body.ts";
import { routesOf } from "../shared/route.ts";
import { sendParts } from "../shared/send-parts.ts";
import { notFound, sendNotDone } from "./answer.ts";
import { recordFromWire } from "./input.ts";
import { pagingOf } from "./paging.ts";
import { paginationToWire, recordToWire } from "./wire.ts";

const route = routesOf("records");
/** May take long if there are many records. */
const heavy = { config: { heavy: true } };
const answers = { 200: RecordAnswer, 403: GatewayAnswer, 404: RecordAnswer, 422: RecordAnswer };

const listed = route(
  "List records",
  { querystring: RecordsQuery, response: { 200: RecordsAnswer, 404: RecordsAnswer } },
  heavy.config,
);

export function recordRoutes(api: FastifyInstance, service: RecordService): void {
  api.get<{ Querystring: Record<string, unknown> }>("/records", listed, sendRecords(service));

  api.post("/records", route("Create a record", { body: RecordInput, response: answers }), async (request, reply) => {
    const input = recordFromWire(request.body);
    const outcome = input.ok
      ? await service.createRecord(request.actor, input.value.zoneId, input.value.draft)
      : refused(input.faults);
    return answerOf(reply, outcome, request.body);
  });

  api.get<{ Params: { id: string } }>(
    "/records/:id",
    route("Read a record", { response: answers }),
    async (request, reply) => {
      const recordInZone = await service.record(request.actor, request.params.id);
      return answerOf(reply, recordInZone ? { kind: "done", recordInZone } : missing("record"));
    },
  );

  api.put<{ Params: { id: string } }>(
    "/records/:id",
    route("Replace a record", { body: RecordInput, response: answers }),
    async (request, reply) => {
      const input = recordFromWire(request.body);
      const outcome = input.ok
        ? await service.replaceRecord(request.actor, request.params.id, input.value)
        : refused(input.faults);
      return answerOf(reply, outcome, request.body);
    },
  );

  api.delete<{ Params: { id: string } }>(
    "/records/:id",
    route("Delete a record", { response: { ...answers, 200: DeletedAnswer, 404: DeletedAnswer } }),
    async (request, reply) => {
      const outcome = await service.deleteRecord(request.actor, request.params.id);
      if (outcome.kind === "done") return reply.send({ error: {} });
      return outcome.kind === "missing"
        ? reply.code(404).send({ error: notFound("record") })
        : answerOf(reply, outcome);
    },
  );
}

const sendRecords =
  (service: RecordService) =>
  async (request: FastifyRequest<{ Querystring: Record<string, unknown> }>, reply: FastifyReply) => {
    const { name, type } = request.query;
    const zone = request.query.zone_id ?? (await bareZone(service, request));
    const isOne = typeof zone === "string";
    if (!isOne || (name === undefined && (await service.isLarge(request.actor, zone))))
      await holdFor(request.actor.account, reply, service.schedule);
    const paging = isOne || name !== undefined || type !== undefined ? undefined : pageOfAll(request.query);
    const page = paging && (await service.recordsPage(request.actor, paging));
    if (paging && page) return await send(reply, service, printing(page.records, { ...paging, total: page.total }));
    const outcome = await service.records(request.actor, {
      ...(typeof zone === "string" && { zone }),
      ...(typeof name === "string" && { name }),
      ...(typeof type === "string" && { type }),
    });
    if (outcome.kind === "done") return await send(reply, service, printingPage(outcome.records, request.query));
    if (outcome.kind !== "refused") return reply.code(404).send({ records: [], error: notFound("zone") });
    const error = { message: outcome.faults.map(faultInWords).join(". "), code: 422 };
    return reply.code(422).send({ records: [], error });
  };

const send = async (reply: FastifyReply, { schedule }: RecordService, steps: Steps<readonly string[]>) =>
  sendParts(reply, "application/json", await schedule.run(reply.request.actor.account, steps));

/** Undefined without `per_page`: then the answer has all records. */
const pageOfAll = (query: Readonly<Record<string, unknown>>) =>
  query.per_page === undefined ? undefined : pagingOf(query, { perPage: 100, most: 10_000 });

/** ddclient 3.10 requests `/records?<zone id>`, without the key. Other bare keys are ignored, like unknown keys. */
async function bareZone(service: RecordService, { actor, query }: FastifyRequest): Promise<string | undefined> {
  const key = Object.entries(query as object).find(([, value]) => value === "")?.[0];
  return key === undefined ? undefined : (await service.zone(actor, { zone: key }))?.id;
}

/** Clients that take the first or last record of a name expect the oldest or newest. */
const byAge = (a: RecordInZone, b: RecordInZone): number => a.record.created - b.record.created;

/** Records of a part of the text. */
const perPart = 500;

/** All records in one answer, without `meta`, unless `per_page` is given. */
function* printingPage(
  records: readonly RecordInZone[],
  query: Readonly<Record<string, unknown>>,
): Steps<readonly string[]> {
  const isPage = query.page !== undefined || query.per_page !== undefined;
  const all = Math.max(records.length, 1);
  const { page, perPage } = isPage
    ? pagingOf(query, { perPage: all, most: Math.max(all, 10_000) })
    : { page: 1, perPage: all };
  const wanted = (yield* sortInSteps(records, byAge)).slice((page - 1) * perPage, page * perPage);
  return yield* printing(wanted, isPage ? { page, perPage, total: records.length } : undefined);
}

function* printing(
  records: readonly RecordInZone[],
  paging: { readonly page: number; readonly perPage: number; readonly total: number } | undefined,
): Steps<readonly string[]> {
  const texts = yield* mapInSteps(
    records,
    (recordInZone, i) => `${i === 0 ? "" : ","}${JSON.stringify(recordToWire(recordInZone))}`,
  );
  const parts = yield* joinInParts(texts, perPart, (some) => some.join(""));
  const meta = paging && { pagination: paginationToWire(paging.page, paging.perPage, paging.total) };
  return ['{"records":[', ...parts, `]${meta ? `,"meta":${JSON.stringify(meta)}` : ""}}\n`];
}

/** The answer, for Fastify to send: a reply is a thenable, which would be waited for. */
const answerOf = (
  reply: FastifyReply,
  outcome: { readonly kind: "done"; readonly recordInZone: RecordInZone } | NotDone,
  body?: unknown,
): object =>
  outcome.kind === "done"
    ? { record: recordToWire(outcome.recordInZone) }
    : sendNotDone(reply, "record", outcome, body);
