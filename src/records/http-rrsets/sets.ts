import type { FastifyInstance, FastifyRequest } from "fastify";
import { answers, bodies, queries } from "../../contract/rrsets.ts";
import { isRecordType } from "../../core/rdata/table.ts";
import { type Fault, ok } from "../../core/result.ts";
import { badInput } from "../service/edit/bad-input.ts";
import type { RecordService } from "../service/service.ts";
import type { SetDone } from "../service/set-operations.ts";
import { refused } from "../service/sight.ts";
import { act, nothingRead, sendError, sendFaults, sendPage, setAt, zoneAt } from "./answer.ts";
import { answerTo } from "./errors.ts";
import { flagAt, labelsAt, recordsAt, said, setFromKeys, ttlAt } from "./input.ts";
import { areTrueOf, readSelector } from "./labels.ts";
import { oneTextAt, orderAt, pagingAt, type Query, textsAt } from "./paging.ts";
import { errors, setParams, zoneParams } from "./schema.ts";
import { setToWire } from "./wire.ts";

const tags = ["record sets"];
const one = "/zones/:z/rrsets/:n/:t";

export function rrsetsSetRoutes(api: FastifyInstance, { rrsets }: RecordService): void {
  /** The serial inside an SOA has moved with the write. */
  const tellSet = (request: FastifyRequest) => async (done: SetDone) => {
    const target = { zone: { number: done.zone.number }, name: done.set?.owner ?? "", type: done.set?.type ?? "" };
    const now = done.set?.type === "SOA" ? await rrsets.set(request.actor, target) : done;
    const set = now.kind === "done" ? now.set : done.set;
    return set === undefined ? {} : { rrset: setToWire(set, done.zone.number) };
  };

  api.get<{ Querystring: Query }>(
    "/zones/:z/rrsets",
    {
      config: { heavy: true },
      schema: {
        tags,
        summary: "List record sets",
        params: zoneParams,
        querystring: queries.sets,
        response: { 200: answers.rrsets, ...errors },
      },
    },
    async (request, reply) => {
      const faults: Fault[] = [];
      const query = setQueryAt(request.query, faults);
      if (faults.length > 0) return sendFaults(reply, faults);
      const { keep, ...asked } = query;
      const outcome = await rrsets.setPage(request.actor, zoneAt(request), asked, keep);
      if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
      const list = outcome.page.items.map((set) => setToWire(set, outcome.zone.number));
      return sendPage(request, reply, { rrsets: list }, asked, outcome.page.total);
    },
  );

  api.post(
    "/zones/:z/rrsets",
    {
      schema: {
        tags,
        summary: "Create a record set",
        params: zoneParams,
        body: bodies.set,
        response: { 201: answers.rrsetAction, ...errors },
      },
    },
    (request, reply) =>
      act(request, reply, {
        read: setFromKeys,
        run: ({ name, type, ...draft }, asked) =>
          rrsets.createSet(request.actor, { zone: zoneAt(request), name, type }, draft, asked),
        tell: tellSet(request),
      }),
  );

  api.get(
    one,
    { schema: { tags, summary: "Read a record set", params: setParams, response: { 200: answers.rrset, ...errors } } },
    async (request, reply) => {
      const outcome = await rrsets.set(request.actor, setAt(request));
      if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
      return reply.send(await tellSet(request)(outcome));
    },
  );

  api.put(
    one,
    {
      schema: {
        tags,
        summary: "Replace the labels of a record set",
        params: setParams,
        body: bodies.labels,
        response: { 200: answers.rrset, ...errors },
      },
    },
    (request, reply) =>
      act(request, reply, {
        read: (keys, faults) => ({ labels: labelsAt(keys, faults), records: said(keys.records) }),
        run: async ({ labels, records }) =>
          records ? refused([recordsHere]) : await rrsets.labelSet(request.actor, setAt(request), labels),
        tell: tellSet(request),
        status: 200,
      }),
  );

  api.delete(
    one,
    {
      schema: { tags, summary: "Delete a record set", params: setParams, response: { 201: answers.action, ...errors } },
    },
    (request, reply) =>
      act(request, reply, { read: nothingRead, run: () => rrsets.deleteSet(request.actor, setAt(request)) }),
  );

  api.put(
    `${one}/records`,
    {
      schema: {
        tags,
        summary: "Create a record set or replace its records, TTL included; not in the original API",
        params: setParams,
        body: bodies.put,
        response: { 200: answers.rrsetAction, 201: answers.rrsetAction, ...errors },
      },
    },
    (request, reply) =>
      act(request, reply, {
        read: draftAt,
        run: (draft) => rrsets.putSet(request.actor, setAt(request), draft),
        tell: tellSet(request),
        status: (done: SetDone) => (done.made ? 201 : 200),
      }),
  );
}

const draftAt = (keys: Readonly<Record<string, unknown>>, faults: Fault[]) => {
  const [ttl, labels] = [ttlAt(keys, faults), labelsAt(keys, faults)];
  return { records: recordsAt(keys, faults), ...(ttl !== undefined && { ttl }), ...(labels && { labels }) };
};

export function rrsetsSetActionRoutes(api: FastifyInstance, { rrsets }: RecordService): void {
  const schema = (summary: string, body: object, status = 201) => ({
    schema: { tags, summary, params: setParams, body, response: { [status]: answers.action, ...errors } },
  });

  api.post(`${one}/actions/change_protection`, schema("Protect a record set", bodies.setProtection), (request, reply) =>
    act(request, reply, {
      read: (keys, faults) => flagAt(keys, "change", faults),
      run: (locked, asked) => rrsets.lockSet(request.actor, setAt(request), locked, asked),
    }),
  );

  api.post(`${one}/actions/change_ttl`, schema("Change the TTL of a record set", bodies.setTtl), (request, reply) =>
    act(request, reply, {
      // Clients leave it out to mean null: the vendor deprecated that only in July 2026.
      read: (keys, faults) => ttlAt(keys, faults) ?? null,
      run: (ttl, asked) => rrsets.changeSetTtl(request.actor, setAt(request), ttl, asked),
    }),
  );

  api.post(`${one}/actions/set_records`, schema("Replace all records of a set", bodies.records), (request, reply) =>
    act(request, reply, {
      read: (keys, faults) => recordsAt(keys, faults),
      run: (records, asked) => rrsets.replaceRecords(request.actor, setAt(request), records, asked),
    }),
  );

  api.post(`${one}/actions/add_records`, schema("Add records to a set", bodies.recordsAndTtl), (request, reply) =>
    act(request, reply, {
      read: draftAt,
      run: (draft, asked) => rrsets.addRecords(request.actor, setAt(request), draft, asked),
    }),
  );

  api.post(`${one}/actions/remove_records`, schema("Remove records from a set", bodies.records), (request, reply) =>
    act(request, reply, {
      read: (keys, faults) => recordsAt(keys, faults),
      run: (records, asked) => rrsets.removeRecords(request.actor, setAt(request), records, asked),
    }),
  );

  api.post(
    `${one}/actions/update_records`,
    schema("Change comments of records", bodies.comments, 200),
    (request, reply) =>
      act(request, reply, {
        read: (keys, faults) => recordsAt(keys, faults, { comments: "required" }),
        run: (records, asked) => rrsets.updateComments(request.actor, setAt(request), records, asked),
        status: 200,
      }),
  );
}

function setQueryAt(query: Query, faults: Fault[]) {
  const paging = pagingAt(query, 100, faults);
  const types = textsAt(query, "type");
  if (!types.every(isRecordType)) faults.push(badInput("type", "is not a supported record type"));
  // Sets have no time of their own: sorted by it, they stay as they are.
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
