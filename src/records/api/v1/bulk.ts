import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  BulkCreateAnswer,
  BulkCreateInput,
  BulkUpdateAnswer,
  BulkUpdateInput,
  GatewayAnswer,
} from "../../../contract/records-v1.ts";
import type { Result } from "../../../core/result.ts";
import { mapInSteps } from "../../../core/steps.ts";
import type { BulkOutcome, OrFaults } from "../../commands/requests.ts";
import type { RecordService } from "../../service.ts";
import { sendRefused } from "../shared/refused-requests.ts";
import { routesOf } from "../shared/route.ts";
import { deniedBody, errorOf, messageOfAll } from "./errors.ts";
import { bulkFromWire, changedRecordFromWire, echoOf, recordFromWire, subjectOf } from "./input.ts";
import { recordToWire } from "./wire.ts";

const route = routesOf("records");

export function bulkRoutes(api: FastifyInstance, service: RecordService): void {
  /** Up to 10,000 entries, a few milliseconds at a time. */
  const each =
    ({ actor }: FastifyRequest): Each =>
    (entries, transform) =>
      service.schedule.run(actor.account, mapInSteps(entries, transform));

  api.post(
    "/records/bulk",
    route(
      "Create many records, all or none",
      { body: BulkCreateInput, response: { 200: BulkCreateAnswer, 403: GatewayAnswer, 422: BulkCreateAnswer } },
      { heavy: true },
    ),
    async (request, reply) => {
      const bulk = bulkFromWire(request.body);
      const none = { records: [], valid_records: [], invalid_records: [] };
      if (!bulk.ok) return sendRefused(reply, { ...none, error: errorOf(bulk.faults, {}) });
      const entries = await each(request)(bulk.value, (entry) => orFaults(recordFromWire(entry)));
      return sendCreated(reply, bulk.value, await service.createRecords(request.actor, entries), each(request));
    },
  );

  api.put(
    "/records/bulk",
    route(
      "Replace many records; invalid entries are returned as failed_records",
      { body: BulkUpdateInput, response: { 200: BulkUpdateAnswer, 403: GatewayAnswer, 422: BulkUpdateAnswer } },
      { heavy: true },
    ),
    async (request, reply) => {
      const bulk = bulkFromWire(request.body);
      const none = { records: [], failed_records: [] };
      if (!bulk.ok) return sendRefused(reply, { ...none, error: errorOf(bulk.faults, {}) });
      const entries = await each(request)(bulk.value, (entry) => orFaults(changedRecordFromWire(entry)));
      return sendReplaced(reply, bulk.value, await service.replaceRecords(request.actor, entries), each(request));
    },
  );
}

type Each = <Item, T>(entries: readonly Item[], transform: (entry: Item) => T) => Promise<readonly T[]>;

const orFaults = <T>(read: Result<T>): OrFaults<T> => (read.ok ? read.value : { faults: read.faults });

const newKeys = ["type", "name", "value", "ttl", "zone_id"] as const;
const changedKeys = ["id", ...newKeys] as const;

async function sendCreated(
  reply: FastifyReply,
  sent: readonly unknown[],
  outcomes: readonly BulkOutcome[],
  each: Each,
): Promise<FastifyReply> {
  const refusal = outcomes.find((outcome) => outcome.kind === "denied");
  if (refusal) return reply.code(403).send(deniedBody(refusal.because));
  const invalid = sent.filter((_, i) => isNotDone(outcomes[i]));
  if (invalid.length === 0) {
    return reply.send({
      records: await each(recordsOf(outcomes), recordToWire),
      valid_records: [],
      invalid_records: [],
    });
  }
  const message = outcomes.map((outcome, i) => messageOf(outcome, sent[i])).join("");
  const valid = sent.filter((_, i) => !isNotDone(outcomes[i]));
  return sendRefused(reply, {
    records: [],
    valid_records: await each(valid, (entry) => echoOf(entry, newKeys)),
    invalid_records: await each(invalid, (entry) => echoOf(entry, newKeys)),
    error: { message, code: 422 },
  });
}

async function sendReplaced(
  reply: FastifyReply,
  sent: readonly unknown[],
  outcomes: readonly BulkOutcome[],
  each: Each,
): Promise<FastifyReply> {
  const records = await each(recordsOf(outcomes), recordToWire);
  const echo = (entry: unknown) => echoOf(entry, changedKeys);
  const refusal = outcomes.find((outcome) => outcome.kind === "denied");
  if (refusal && records.length === 0) return reply.code(403).send(deniedBody(refusal.because));
  if (outcomes.some(isStray)) {
    const message = outcomes.map((outcome, i) => messageOf(outcome, sent[i])).join("");
    return sendRefused(reply, { records, failed_records: await each(sent, echo), error: { message, code: 422 } });
  }
  const failed = sent.filter((_, i) => outcomes[i]?.kind !== "done");
  return reply.send({ records, failed_records: await each(failed, echo) });
}

const recordsOf = (outcomes: readonly BulkOutcome[]) =>
  outcomes.flatMap((outcome) => (outcome.kind === "done" ? [outcome.recordInZone] : []));

const isNotDone = (outcome: BulkOutcome | undefined): boolean =>
  outcome !== undefined && outcome.kind !== "done" && outcome.kind !== "unprocessed";

const isStray = (outcome: BulkOutcome): boolean =>
  outcome.kind === "refused" && outcome.faults.some(({ code }) => code === "zone-stays");

/** One message per invalid entry, each followed by a comma, as in the original. Clients print all of it. */
function messageOf(outcome: BulkOutcome, entry: unknown): string {
  switch (outcome.kind) {
    case "refused":
      return `${messageOfAll(outcome.faults, subjectOf(entry))}, `;
    case "missing":
      return `${outcome.what} not found, `;
    default:
      return "";
  }
}
