import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answers, bodies, queries } from "../../contract/rrsets.ts";
import { askedZoneName } from "../../core/names/name.ts";
import { type Fault, ok } from "../../core/result.ts";
import { holdFor } from "../http/admit-body.ts";
import type { Zone } from "../model.ts";
import { badInput } from "../service/edit/bad-input.ts";
import { zoneFaults } from "../service/edit/check-write.ts";
import type { RecordService } from "../service/service.ts";
import { missing } from "../service/sight.ts";
import { largeZone } from "../service/zones/read-zone.ts";
import { act, nothingRead, sendError, sendFaults, sendPage, zoneAt } from "./answer.ts";
import { answerTo } from "./errors.ts";
import { flagAt, labelsAt, primariesAt, said, textAt, ttlAt, zoneFromKeys } from "./input.ts";
import { areTrueOf, readSelector } from "./labels.ts";
import { oneTextAt, orderAt, pagingAt, type Query } from "./paging.ts";
import { errors, zoneParams } from "./schema.ts";
import { zoneToWire } from "./wire.ts";

const tags = ["hosted zones"];

export function rrsetsZoneRoutes(api: FastifyInstance, service: RecordService): void {
  const { rrsets, nameservers } = service;
  const toWire = async (zones: readonly Zone[]) => {
    const statuses = await rrsets.zoneStatuses(zones);
    return zones.map((zone, i) => zoneToWire(zone, statuses[i] ?? "error", nameservers));
  };
  const tellZone = async ({ zone }: { readonly zone: Zone }) => ({ zone: (await toWire([zone]))[0] });

  const listZones = async (request: FastifyRequest, reply: FastifyReply) => {
    const faults: Fault[] = [];
    const { keep, owns, ...query } = zoneQueryAt(request.query as Query, faults);
    if (faults.length > 0) return sendFaults(reply, faults);
    const owning = owns === undefined ? undefined : await rrsets.zoneOwning(request.actor, owns);
    const name = owning?.name ?? query.name;
    const isNone = (owns !== undefined && owning === undefined) || name !== (query.name ?? name);
    const page = isNone
      ? { items: [], total: 0 }
      : await rrsets.zonePage(request.actor, { ...query, ...(name !== undefined && { name }) }, keep);
    const zones = await toWire(page.items);
    return sendPage(request, reply, { zones }, query, page.total);
  };

  api.get(
    "/zones",
    {
      config: { heavy: true },
      schema: { tags, summary: "List zones", querystring: queries.zones, response: { 200: answers.zones, ...errors } },
    },
    listZones,
  );

  api.post(
    "/zones",
    {
      config: { largeBody: true },
      schema: { tags, summary: "Create a zone", body: bodies.zone, response: { 201: answers.zoneAction, ...errors } },
    },
    (request, reply) =>
      act(request, reply, {
        read: zoneFromKeys,
        run: (draft, asked) => rrsets.createZoneWith(request.actor, draft, asked),
        tell: tellZone,
      }),
  );

  api.get(
    "/zones/:z",
    { schema: { tags, summary: "Read a zone", params: zoneParams, response: { 200: answers.zone, ...errors } } },
    async (request, reply) => {
      const key = zoneAt(request);
      // `/zones/`: scripts ask for the list so.
      if ("name" in key && key.name === "") return await listZones(request, reply);
      const zone = await rrsets.zoneBy(request.actor, key);
      return zone === undefined ? sendError(reply, answerTo(missing("zone"))) : reply.send(await tellZone({ zone }));
    },
  );

  api.put(
    "/zones/:z",
    {
      schema: {
        tags,
        summary: "Replace the labels of a zone",
        params: zoneParams,
        body: bodies.labels,
        response: { 200: answers.zone, ...errors },
      },
    },
    (request, reply) =>
      act(request, reply, {
        read: labelsAt,
        run: (labels) => rrsets.labelZone(request.actor, zoneAt(request), labels),
        tell: tellZone,
        status: 200,
      }),
  );

  api.delete(
    "/zones/:z",
    {
      schema: {
        tags,
        summary: "Delete a zone with all its record sets",
        params: zoneParams,
        response: { 201: answers.action, ...errors },
      },
    },
    (request, reply) =>
      act(request, reply, { read: nothingRead, run: () => rrsets.dropZone(request.actor, zoneAt(request)) }),
  );

  api.get(
    "/zones/:z/zonefile",
    {
      config: { heavy: true },
      schema: {
        tags,
        summary: "Read a zone as a zone file",
        params: zoneParams,
        response: { 200: answers.zonefile, ...errors },
      },
    },
    async (request, reply) => {
      const zone = await rrsets.openZone(request.actor, zoneAt(request));
      const faults = zone === undefined ? [] : zoneFaults(zone);
      if (zone === undefined) return sendError(reply, answerTo(missing("zone")));
      if (faults.length > 0) return sendFaults(reply, faults);
      if (zone.recordCount > largeZone) await holdFor(request.actor.account, reply, service.turns);
      const file = await service.exportZone(request.actor, zone.id, "rrsets");
      return file.kind === "done" ? reply.send({ zonefile: file.text }) : sendError(reply, answerTo(file));
    },
  );
}

export function rrsetsZoneActionRoutes(api: FastifyInstance, { rrsets }: RecordService): void {
  const schema = (summary: string, body: object) => ({
    schema: { tags, summary, params: zoneParams, body, response: { 201: answers.action, ...errors } },
  });

  api.post(
    "/zones/:z/actions/change_primary_nameservers",
    schema("Say where a secondary zone comes from", bodies.primaries),
    (request, reply) =>
      act(request, reply, {
        read: primariesAt,
        run: (servers, asked) => rrsets.changePrimaries(request.actor, zoneAt(request), servers, asked),
      }),
  );

  api.post("/zones/:z/actions/change_protection", schema("Protect a zone", bodies.zoneProtection), (request, reply) =>
    act(request, reply, {
      read: (keys, faults) => (said(keys.delete) ? flagAt(keys, "delete", faults) : undefined),
      run: (locked, asked) => rrsets.lockZone(request.actor, zoneAt(request), locked, asked),
    }),
  );

  api.post("/zones/:z/actions/change_ttl", schema("Change a zone's TTL", bodies.zoneTtl), (request, reply) =>
    act(request, reply, {
      read: (keys, faults) => {
        if (!said(keys.ttl)) faults.push(badInput("ttl", "is missing"));
        return ttlAt(keys, faults) ?? 0;
      },
      run: (ttl, asked) => rrsets.changeZoneTtl(request.actor, zoneAt(request), ttl, asked),
    }),
  );

  api.post(
    "/zones/:z/actions/import_zonefile",
    { config: { largeBody: true }, ...schema("Replace all record sets by a zone file", bodies.zonefile) },
    (request, reply) =>
      act(request, reply, {
        read: (keys, faults) => textAt(keys, "zonefile", faults),
        run: (text, asked) => rrsets.importFile(request.actor, zoneAt(request), text, asked),
      }),
  );
}

function zoneQueryAt(query: Query, faults: Fault[]) {
  const paging = pagingAt(query, 50, faults);
  const order = orderAt(query, ["id", "name", "created"], faults);
  const [name, modeText, search, text] = ["name", "mode", "search", "label_selector"].map((key) =>
    oneTextAt(query, key),
  );
  // Asked with no name at all, no zone holds it.
  const owns = query.owns === undefined ? undefined : (oneTextAt(query, "owns") ?? "");
  const mode = (["primary", "secondary"] as const).find((each) => each === modeText);
  if (mode !== modeText) faults.push(badInput("mode", "must be primary or secondary"));
  const selector = text === undefined ? ok([]) : readSelector(text);
  if (!selector.ok) faults.push(...selector.faults);
  // The database takes one test, best one that few zones pass; what is left is tried on those it finds.
  const tests = (selector.ok ? selector.value : []).toSorted((a, b) => Number(a.not) - Number(b.not));
  const [label, ...more] = tests;
  const keep = more.length === 0 ? undefined : ({ settings }: Zone) => areTrueOf(more, settings.labels);
  return {
    ...paging,
    order,
    owns,
    keep,
    ...(mode && { mode }),
    ...(label && { label }),
    ...(name !== undefined && { name: askedZoneName(name) }),
    ...(search !== undefined && { search: search.toLowerCase() }),
  };
}
