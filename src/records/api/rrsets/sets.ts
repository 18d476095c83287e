import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answers, bodies, queries } from "../../../contract/rrsets.ts";
import { isRecordType } from "../../../core/rdata/table.ts";
import { badInput, type Fault, ok } from "../../../core/result.ts";
import type { SetDone, SetEdit } from "../../commands/requests.ts";
import { refused } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { routesOf } from "../shared/route.ts";
import { act, type ReadBodyFields, sendError, sendFaults, sendPage, setAt, zoneAt } from "./answer.ts";
import { answerTo } from "./errors.ts";
import { draftAt, flagAt, isGiven, labelsAt, recordsAt, setFromBody, ttlAt } from "./input.ts";
import { areTrueOf, readSelector } from "./labels.ts";
import { oneTextAt, orderAt, pagingAt, type QueryFields, textsAt } from "./paging.ts";
import { setToWire } from "./wire.ts";

const route = routesOf("record sets");
const one = "/zones/:z/rrsets/:n/:t";

export function rrsetsSetRoutes(api: FastifyInstance, service: RecordService): void {
  readingRoutes(api, service);
  writingRoutes(api, service);
}

function readingRoutes(api: FastifyInstance, service: RecordService): void {
  api.get<{ Querystring: QueryFields }>(
    "/zones/:z/rrsets",
    route("List record sets", { querystring: queries.sets, response: { 200: answers.rrsets } }, { heavy: true }),
    async (request, reply) => {
      const faults: Fault[] = [];
      const query = setQueryAt(request.query, faults);
      if (faults.length > 0) return sendFaults(reply, faults);
      const { keep, ...pageQuery } = query;
      const outcome = await service.setPage(request.actor, zoneAt(request), pageQuery, keep);
      if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
      const list = outcome.page.items.map((set) => setToWire(set, outcome.zone.number));
      return sendPage(request, reply, { rrsets: list }, pageQuery, outcome.page.total);
    },
  );

  api.get(one, route("Read a record set", { response: { 200: answers.rrset } }), async (request, reply) => {
    const outcome = await service.set(request.actor, setAt(request));
    if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
    const { set, zone } = outcome;
    return set ? { rrset: setToWire(set, zone.number) } : {};
  });
}

/** Edits whose answer contains the set. */
function writingRoutes(api: FastifyInstance, service: RecordService): void {
  api.post(
    "/zones/:z/rrsets",
    route("Create a record set", { body: bodies.set, response: { 201: answers.rrsetAction } }),
    (request, reply) =>
      act(request, reply, {
        read: setFromBody,
        run: ({ name, type, ...draft }, idempotency) =>
          service.editSet(request.actor, { zone: zoneAt(request), name, type }, { kind: "create", draft }, idempotency),
        answerOf: setAnswer(service, request),
      }),
  );

  const labelling = route("Replace the labels of a record set", {
    body: bodies.labels,
    response: { 200: answers.rrset },
  });
  api.put(one, labelling, (request, reply) =>
    act(request, reply, {
      read: (fields, faults) => ({ labels: labelsAt(fields, faults), hasRecords: isGiven(fields.records) }),
      run: async ({ labels, hasRecords }) =>
        hasRecords
          ? refused([recordsHere])
          : await service.editSet(request.actor, setAt(request), { kind: "label", labels }),
      answerOf: setAnswer(service, request),
      status: () => 200,
    }),
  );

  const putting = route("Create a record set or replace its records and TTL; not in the original API", {
    body: bodies.put,
    response: { 200: answers.rrsetAction, 201: answers.rrsetAction },
  });
  api.put(`${one}/records`, putting, (request, reply) =>
    act(request, reply, {
      read: draftAt,
      run: (draft) => service.editSet(request.actor, setAt(request), { kind: "put", draft }),
      answerOf: setAnswer(service, request),
      status: ({ made }) => (made ? 201 : 200),
    }),
  );
}

/** An SOA set is read again, because the write has changed its serial. */
const setAnswer = (service: RecordService, request: FastifyRequest) => async (done: SetDone) => {
  const target = { zone: { number: done.zone.number }, name: done.set?.owner ?? "", type: done.set?.type ?? "" };
  const now = done.set?.type === "SOA" ? await service.set(request.actor, target) : done;
  const set = now.kind === "done" ? now.set : done.set;
  return set === undefined ? {} : { rrset: setToWire(set, done.zone.number) };
};

/** Edits whose answer is only the action. */
export function rrsetsSetActionRoutes(api: FastifyInstance, service: RecordService): void {
  const handler = (read: ReadBodyFields<SetEdit>, status: number) => (request: FastifyRequest, reply: FastifyReply) =>
    act(request, reply, {
      read,
      run: (edit, idempotency) => service.editSet(request.actor, setAt(request), edit, idempotency),
      status: () => status,
    });
  const action = (name: string, summary: string, body: object, read: ReadBodyFields<SetEdit>, status = 201) => {
    const options = route(summary, { body, response: { [status]: answers.action } });
    api.post(`${one}/actions/${name}`, options, handler(read, status));
  };

  api.delete(
    one,
    route("Delete a record set", { response: { 201: answers.action } }),
    handler(() => ({ kind: "delete" }), 201),
  );
  action("change_protection", "Protect a record set", bodies.setProtection, (fields, faults) => ({
    kind: "lock",
    locked: flagAt(fields, "change", faults),
  }));
  // Some clients omit the TTL to mean null; the vendor deprecated that only in July 2026.
  action("change_ttl", "Change the TTL of a record set", bodies.setTtl, (fields, faults) => ({
    kind: "ttl",
    ttl: ttlAt(fields, faults) ?? null,
  }));
  action("set_records", "Replace all records of a set", bodies.records, (fields, faults) => ({
    kind: "replace",
    draft: { records: recordsAt(fields, faults) },
  }));
  action("add_records", "Add records to a set", bodies.recordsAndTtl, (fields, faults) => ({
    kind: "add",
    draft: draftAt(fields, faults),
  }));
  action("remove_records", "Remove records from a set", bodies.records, (fields, faults) => ({
    kind: "remove",
    draft: { records: recordsAt(fields, faults) },
  }));
  action(
    "update_records",
    "Change comments of records",
    bodies.comments,
    (fields, faults) => ({ kind: "comment", draft: { records: recordsAt(fields, faults, { comments: "required" }) } }),
    200,
  );
}

function setQueryAt(query: QueryFields, faults: Fault[]) {
  const paging = pagingAt(query, 100, faults);
  const types = textsAt(query, "type");
  if (!types.every(isRecordType)) faults.push(badInput("type", "is not a supported record type"));
  // Sets have no creation time, so sorting by it keeps their order.
  const order = orderAt(query, ["id", "name", "created"], faults).flatMap(({ by, descending }) =>
    by === "created" ? [] : [{ by, descending }],
  );
  const text = oneTextAt(query, "label_selector");
  const selector = text === undefined ? ok(undefined) : readSelector(text);
  if (!selector.ok) faults.push(...selector.faults);
  const chosen = selector.ok ? selector.value : undefined;
  const name = oneTextAt(query, "name");
  return {
    ...paging,
    order,
    ...(types.length > 0 && { types: types.filter(isRecordType) }),
    ...(name !== undefined && { owners: [name.toLowerCase()] }),
    keep:
      chosen && ((set: { readonly labels?: Readonly<Record<string, string>> }) => areTrueOf(chosen, set.labels ?? {})),
  };
}

const recordsHere: Fault = {
  code: "records-here",
  where: "records",
  message: "can't update records with this endpoint",
};
