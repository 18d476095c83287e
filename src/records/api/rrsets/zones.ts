import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answers, bodies, queries } from "../../../contract/rrsets.ts";
import { zoneNameOf } from "../../../core/names/name.ts";
import { badInput, type Fault, ok } from "../../../core/result.ts";
import { zoneFaults } from "../../commands/edit/check-write.ts";
import type { IdempotencyOption, Written } from "../../commands/requests.ts";
import { isLarge, type Zone, type ZoneKey } from "../../model.ts";
import { type Actor, missing } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { holdFor } from "../shared/admit-body.ts";
import { routesOf } from "../shared/route.ts";
import { sendParts } from "../shared/send-parts.ts";
import { act, type ReadBodyFields, readNothing, sendError, sendFaults, sendPage, zoneAt } from "./answer.ts";
import { answerTo } from "./errors.ts";
import {
  type BodyFields,
  flagAt,
  isGiven,
  labelsAt,
  ownSetsAt,
  primariesAt,
  textAt,
  ttlAt,
  zoneFromBody,
} from "./input.ts";
import { areTrueOf, readSelector } from "./labels.ts";
import { oneTextAt, orderAt, pagingAt, type QueryFields } from "./paging.ts";
import { zoneToWire } from "./wire.ts";

const route = routesOf("hosted zones");

export function rrsetsZoneRoutes(api: FastifyInstance, service: RecordService): void {
  readingRoutes(api, service);
  api.post(
    "/zones",
    route("Create a zone", { body: bodies.zone, response: { 201: answers.zoneAction } }, { largeBody: true }),
    (request, reply) =>
      act(request, reply, {
        read: zoneFromBody,
        run: (draft, idempotency) => service.createZone(request.actor, draft, idempotency),
        answerOf: async (created) => ({ ...(await zoneAnswer(service)(created)), ...notesOf(created) }),
      }),
  );
  const labelling = route("Replace the labels of a zone", { body: bodies.labels, response: { 200: answers.zone } });
  api.put("/zones/:z", labelling, (request, reply) =>
    act(request, reply, {
      read: labelsAt,
      run: (labels) => service.labelZone(request.actor, zoneAt(request), labels),
      answerOf: zoneAnswer(service),
      status: () => 200,
    }),
  );
}

function readingRoutes(api: FastifyInstance, service: RecordService): void {
  const listZones = sendZones(service);
  api.get(
    "/zones",
    route("List zones", { querystring: queries.zones, response: { 200: answers.zones } }, { heavy: true }),
    listZones,
  );
  api.get("/zones/:z", route("Read a zone", { response: { 200: answers.zone } }), async (request, reply) => {
    const key = zoneAt(request);
    // `/zones/`: some scripts request the list this way.
    if ("name" in key && key.name === "") return await listZones(request, reply);
    const zone = await service.zone(request.actor, key);
    return zone === undefined
      ? sendError(reply, answerTo(missing("zone")))
      : reply.send(await zoneAnswer(service)({ zone }));
  });
  api.get(
    "/zones/:z/zonefile",
    route(
      "Read a zone as a zone file",
      { querystring: queries.zonefile, response: { 200: answers.zonefile } },
      { heavy: true },
    ),
    sendZoneFile(service),
  );
}

const sendZones = (service: RecordService) => async (request: FastifyRequest, reply: FastifyReply) => {
  const faults: Fault[] = [];
  const { keep, owns, ...query } = zoneQueryAt(request.query as QueryFields, faults);
  if (faults.length > 0) return sendFaults(reply, faults);
  const owning = owns === undefined ? undefined : await service.zoneOwning(request.actor, owns);
  const name = owning?.name ?? query.name;
  const isNone = (owns !== undefined && owning === undefined) || name !== (query.name ?? name);
  const page = isNone
    ? { items: [], total: 0 }
    : await service.zones(request.actor, { ...query, ...(name !== undefined && { name }) }, keep);
  const zones = await zonesToWire(service, page.items);
  return sendPage(request, reply, { zones }, query, page.total);
};

const sendZoneFile = (service: RecordService) => async (request: FastifyRequest, reply: FastifyReply) => {
  const zone = await service.openZone(request.actor, zoneAt(request));
  const faults = zone === undefined ? [] : zoneFaults(zone);
  if (zone === undefined) return sendError(reply, answerTo(missing("zone")));
  if (faults.length > 0) return sendFaults(reply, faults);
  if (isLarge(zone)) await holdFor(request.actor.account, reply, service.schedule);
  const layout = oneTextAt(request.query as QueryFields, "labels") === "true" ? "marked" : "rrsets";
  const file = await service.exportZone(request.actor, zone, layout);
  if (file.kind !== "done") return sendError(reply, answerTo(file));
  const inJson = file.parts.map((part) => JSON.stringify(part).slice(1, -1));
  return sendParts(reply, "application/json", ['{"zonefile":"', ...inJson, '"}']);
};

async function zonesToWire(service: RecordService, zones: readonly Zone[]) {
  const statuses = await service.zoneStatuses(zones);
  return zones.map((zone, i) => zoneToWire(zone, statuses[i] ?? "error", service.nameservers));
}

const zoneAnswer =
  (service: RecordService) =>
  async ({ zone }: { readonly zone: Zone }) => ({ zone: (await zonesToWire(service, [zone]))[0] });

/** Writes whose answer is only the action. */
export function rrsetsZoneActionRoutes(api: FastifyInstance, service: RecordService): void {
  const handler =
    <Draft>(
      read: ReadBodyFields<Draft>,
      run: (actor: Actor, zone: ZoneKey, draft: Draft, idempotency: IdempotencyOption) => Promise<Written>,
    ) =>
    (request: FastifyRequest, reply: FastifyReply) =>
      act(request, reply, {
        read,
        run: (draft, idempotency) => run(request.actor, zoneAt(request), draft, idempotency),
      });
  const options = (summary: string, body: object) => route(summary, { body, response: { 201: answers.action } });
  const path = "/zones/:z/actions";

  api.delete(
    "/zones/:z",
    route("Delete a zone with all its record sets", { response: { 201: answers.action } }),
    handler(readNothing, (actor, zone, _, idempotency) => service.deleteZone(actor, zone, idempotency)),
  );
  api.post(
    `${path}/change_primary_nameservers`,
    options("Set the primary servers of a secondary zone", bodies.primaries),
    handler(primariesAt, service.changePrimaries),
  );
  api.post(
    `${path}/change_protection`,
    options("Protect a zone", bodies.zoneProtection),
    handler(
      (fields, faults) => (isGiven(fields.delete) ? flagAt(fields, "delete", faults) : undefined),
      service.lockZone,
    ),
  );
  api.post(
    `${path}/change_ttl`,
    options("Change a zone's TTL", bodies.zoneTtl),
    handler((fields, faults) => {
      if (!isGiven(fields.ttl)) faults.push(badInput("ttl", "is missing"));
      return ttlAt(fields, faults) ?? 0;
    }, service.changeZoneTtl),
  );
  importRoutes(api, service);
}

function importRoutes(api: FastifyInstance, service: RecordService): void {
  const large = { largeBody: true };
  api.post(
    "/zones/:z/actions/import_zonefile",
    route(
      "Replace all record sets with a zone file",
      { body: bodies.zonefile, response: { 201: answers.imported } },
      large,
    ),
    (request, reply) =>
      act(request, reply, {
        read: fileAt,
        run: (file, idempotency) => service.importFile(request.actor, zoneAt(request), file, idempotency),
        answerOf: notesOf,
      }),
  );
  // Refused as the write is, but writes nothing.
  api.post(
    "/zones/:z/zonefile/preview",
    route("Try an import", { body: bodies.importPreview, response: { 200: answers.importPreview } }, large),
    (request, reply) =>
      act(request, reply, {
        read: (fields, faults) => ({ ...fileAt(fields, faults), create: flagIn(fields, "create", faults) }),
        run: async ({ create, ...file }) => {
          const key = zoneAt(request);
          if (!create || !("name" in key)) return await service.importFile(request.actor, key, file, { isTrial: true });
          const content = { kind: "file", text: file.text, own: file.own } as const;
          return await service.createZone(request.actor, { name: key.name, content, isTrial: true });
        },
        status: () => 200,
        answerOf: ({ notes = [] }) => ({ notes }),
      }),
  );
}

const flagIn = (fields: BodyFields, name: string, faults: Fault[]): boolean =>
  isGiven(fields[name]) && flagAt(fields, name, faults);

const fileAt = (fields: BodyFields, faults: Fault[]) => ({
  text: textAt(fields, "zonefile", faults),
  otherServers: flagIn(fields, "other_nameservers", faults),
  merge: flagIn(fields, "merge", faults),
  own: ownSetsAt(fields, faults),
});

const notesOf = ({ notes = [] }: { readonly notes?: readonly string[] }) => (notes.length > 0 ? { notes } : {});

function zoneQueryAt(query: QueryFields, faults: Fault[]) {
  const paging = pagingAt(query, 50, faults);
  const order = orderAt(query, ["id", "name", "created"], faults);
  const [name, modeText, search, text] = ["name", "mode", "search", "label_selector"].map((key) =>
    oneTextAt(query, key),
  );
  // No zone contains an empty name.
  const owns = query.owns === undefined ? undefined : (oneTextAt(query, "owns") ?? "");
  const mode = (["primary", "secondary"] as const).find((each) => each === modeText);
  if (mode !== modeText) faults.push(badInput("mode", "must be primary or secondary"));
  const selector = text === undefined ? ok([]) : readSelector(text);
  if (!selector.ok) faults.push(...selector.faults);
  const tests = selector.ok ? selector.value : [];
  const keep = tests.length === 0 ? undefined : ({ settings }: Zone) => areTrueOf(tests, settings.labels);
  return {
    ...paging,
    order,
    owns,
    keep,
    ...(mode && { mode }),
    ...(name !== undefined && { name: zoneNameOf(name) }),
    ...(search !== undefined && { search: search.toLowerCase() }),
  };
}
