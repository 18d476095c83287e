import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import { Type } from "typebox";
import { frontAnswers, frontBodies, frontQueries } from "../../../contract/front.ts";
import { answers } from "../../../contract/rrsets.ts";
import { isObject } from "../../../core/is-object.ts";
import { badInput, type Fault } from "../../../core/result.ts";
import type { ToPublish } from "../../front/provider-operations.ts";
import type { DriftRule } from "../../model.ts";
import type { NotDone } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { routesOf } from "../shared/route.ts";
import { act, readNothing, sendError, sendFaults, sendPage, setAt, zoneAt } from "./answer.ts";
import { answerTo, type ErrorAnswer, errorAnswer } from "./errors.ts";
import { previewToWire, providerToWire, publicationToWire, setStateToWire } from "./front-wire.ts";
import { type BodyFields, choiceAt, flagAt, isGiven, readBody, textAt } from "./input.ts";
import { oneTextAt, pagingAt, type QueryFields, textsAt } from "./paging.ts";

const route = routesOf("providers");

/** Not in the original API: the providers at which zones can be published. */
export function rrsetsProviderRoutes(api: FastifyInstance, service: RecordService): void {
  api.get(
    "/providers",
    route("List the providers", { response: { 200: frontAnswers.providers } }),
    async (request, reply) => {
      const outcome = await service.providers(request.actor);
      if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
      return reply.send({ providers: outcome.providers.map(providerToWire) });
    },
  );
  const written = { response: { 201: frontAnswers.provider } };
  api.post(
    "/providers",
    route("Store the token of a provider, encrypted", { ...written, body: frontBodies.provider }),
    (request, reply) =>
      act(request, reply, {
        read: (fields, faults) => ({ name: textAt(fields, "name", faults), ...accountAt(fields, faults) }),
        run: (draft) => service.addProvider(request.actor, draft),
        answerOf: ({ provider }) => ({ provider: providerToWire(provider) }),
      }),
  );
  api.post(
    "/providers/:p/actions/replace_token",
    route("Replace the token of a provider", { ...written, body: frontBodies.token }),
    (request, reply) =>
      act(request, reply, {
        read: (fields, faults) => textAt(fields, "token", faults),
        run: (token) => service.replaceProviderToken(request.actor, providerAt(request), token),
        answerOf: ({ provider }) => ({ provider: providerToWire(provider) }),
        refusal,
      }),
  );
  api.delete(
    "/providers/:p",
    route("Remove a provider that no zone is published with", { response: { 204: Type.Null() } }),
    async (request, reply) => {
      const outcome = await service.removeProvider(request.actor, providerAt(request));
      return outcome.kind === "done" ? await reply.code(204).send() : sendError(reply, refusal(outcome));
    },
  );
}

const accountAt = (fields: BodyFields, faults: Fault[]) => ({
  kind: textAt(fields, "kind", faults),
  token: textAt(fields, "token", faults),
  url: isGiven(fields.url) ? textAt(fields, "url", faults) : undefined,
  ca: isGiven(fields.ca) ? textAt(fields, "ca", faults) : undefined,
});

function toPublishAt(fields: BodyFields, faults: Fault[]): ToPublish {
  const { account } = fields;
  if (isGiven(account) && !isObject(account)) faults.push(badInput("account", "must be an object"));
  const draft = isObject(account) ? accountAt(account, faults) : undefined;
  return {
    provider: { name: textAt(fields, "provider", faults), draft },
    create: isGiven(fields.create) && flagAt(fields, "create", faults),
  };
}

const providerAt = (request: FastifyRequest): string => (request.params as { readonly p: string }).p;

const refusal = (notDone: NotDone): ErrorAnswer =>
  notDone.kind === "missing" && notDone.what === "provider"
    ? errorAnswer(404, "not_found", "provider not found")
    : answerTo(notDone);

/** Not in the original API: zones that are published at a provider. */
export function rrsetsPublicationRoutes(api: FastifyInstance, service: RecordService): void {
  const shown = async (request: FastifyRequest) => {
    const outcome = await service.publicationOf(request.actor, zoneAt(request));
    return outcome.kind === "done" && outcome.publication ? publicationToWire(outcome.publication) : null;
  };
  api.get(
    "/zones/:z/publication",
    route("Read where a zone is published, and how far", { response: { 200: frontAnswers.publication } }),
    async (request, reply) => {
      const zone = await service.openZone(request.actor, zoneAt(request));
      return zone ? reply.send({ publication: await shown(request) }) : sendError(reply, noZone);
    },
  );
  addPreview(api, service);
  addStates(api, service);
  addPublish(api, service, shown);
}

function addPublish(
  api: FastifyInstance,
  service: RecordService,
  shown: (request: FastifyRequest) => Promise<unknown>,
): void {
  const action = { response: { 201: frontAnswers.publicationAction } };
  const answerOf = (request: FastifyRequest) => async () => ({ publication: await shown(request) });
  api.post(
    "/zones/:z/actions/publish",
    route("Publish a zone at a provider", { ...action, body: frontBodies.publish }),
    (request, reply) =>
      act(request, reply, {
        read: (fields, faults) => ({
          wanted: toPublishAt(fields, faults),
          digest: textAt(fields, "digest", faults),
          fill: choiceAt(fields, "fill", ["theirs", "ours"] as const, faults) ?? "theirs",
          drift: driftAt(fields, faults) ?? "ask",
          readEvery: secondsAt(fields, faults) ?? usualReadEvery,
        }),
        run: ({ wanted, ...draft }) => service.publishZone(request.actor, zoneAt(request), wanted, draft),
        answerOf: answerOf(request),
      }),
  );
  api.post(
    "/zones/:z/actions/change_publication",
    route("Change the drift rule of a zone, or how often it is read", {
      ...action,
      body: frontBodies.changePublication,
    }),
    (request, reply) =>
      act(request, reply, {
        read: (fields, faults) => {
          const [drift, readEvery] = [driftAt(fields, faults), secondsAt(fields, faults)];
          return { ...(drift && { drift }), ...(readEvery !== undefined && { readEvery }) };
        },
        run: (patch) => service.changePublication(request.actor, zoneAt(request), patch),
        answerOf: answerOf(request),
      }),
  );
  api.post(
    "/zones/:z/actions/unpublish",
    route("Stop publishing a zone; the provider keeps it", {
      body: frontBodies.nothing,
      response: { 201: answers.action },
    }),
    (request, reply) =>
      act(request, reply, { read: readNothing, run: () => service.unpublishZone(request.actor, zoneAt(request)) }),
  );
}

/** Seconds between two reads of a whole zone. */
const usualReadEvery = 900;

/** The token of a provider that is not stored yet is in the body. */
function addPreview(api: FastifyInstance, service: RecordService): void {
  const path = "/zones/:z/publication/preview";
  const options = (more: FastifySchema) =>
    route("Compare a zone with what the provider has, and write nothing", {
      ...more,
      response: { 200: frontAnswers.preview },
    });
  const send = async (request: FastifyRequest, reply: FastifyReply, wanted: ToPublish) => {
    const outcome = await service.previewPublication(request.actor, zoneAt(request), wanted);
    if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
    return reply.send({ preview: previewToWire(outcome.preview) });
  };
  api.get(path, options({ querystring: frontQueries.preview }), async (request, reply) => {
    const name = oneTextAt(request.query as QueryFields, "provider");
    if (name === undefined) return sendFaults(reply, [badInput("provider", "is missing")]);
    return await send(request, reply, { provider: { name }, create: false });
  });
  api.post(path, options({ body: frontBodies.preview }), async (request, reply) => {
    const wanted = readBody(request.body, toPublishAt);
    return wanted.ok ? await send(request, reply, wanted.value) : sendFaults(reply, wanted.faults);
  });
}

const states = ["published", "waiting", "refused", "drifted"] as const;

function addStates(api: FastifyInstance, service: RecordService): void {
  const listed = route("List the states of the sets of a published zone", {
    querystring: frontQueries.sets,
    response: { 200: frontAnswers.sets },
  });
  api.get("/zones/:z/publication/sets", listed, async (request, reply) => {
    const query = request.query as QueryFields;
    const faults: Fault[] = [];
    const paging = pagingAt(query, 1_000, faults);
    const stateTexts = textsAt(query, "state");
    const wanted = states.filter((state) => stateTexts.includes(state));
    if (wanted.length < stateTexts.length) faults.push(badInput("state", `must be one of ${states.join(", ")}`));
    if (faults.length > 0) return sendFaults(reply, faults);
    const statesQuery = { states: wanted.length > 0 ? wanted : undefined, owner: oneTextAt(query, "name") };
    const outcome = await service.setStates(request.actor, zoneAt(request), statesQuery);
    if (outcome.kind !== "done") return sendError(reply, answerTo(outcome));
    const { page, perPage } = paging;
    const sets = outcome.sets.slice((page - 1) * perPage, page * perPage).map(setStateToWire);
    return sendPage(request, reply, { sets }, paging, outcome.sets.length);
  });

  for (const [name, summary] of decisions)
    api.post(
      `/zones/:z/rrsets/:n/:t/actions/${name}`,
      route(summary, { body: frontBodies.nothing, response: { 201: answers.action } }),
      (request: FastifyRequest, reply: FastifyReply) =>
        act(request, reply, {
          read: readNothing,
          run: () => service.decideSet(request.actor, setAt(request), name),
        }),
    );
}

const decisions = [
  ["take_theirs", "Take what somebody wrote at the provider"],
  ["put_ours_back", "Replace what somebody wrote at the provider"],
  ["publish_again", "Send a set again that the provider refused"],
] as const;

const noZone = errorAnswer(404, "not_found", "Zone not found");

const driftAt = (fields: BodyFields, faults: Fault[]): DriftRule | undefined =>
  choiceAt(fields, "drift", ["ask", "ours"] as const, faults);

/** A shorter interval would be a burden for the provider. */
const shortestReads = 60;
const longestReads = 604_800;

function secondsAt({ read_every: value }: BodyFields, faults: Fault[]): number | undefined {
  if (!isGiven(value)) return undefined;
  if (Number.isInteger(value) && (value === 0 || (Number(value) >= shortestReads && Number(value) <= longestReads)))
    return Number(value);
  faults.push(badInput("read_every", `must be 0, or a number of seconds from ${shortestReads} to ${longestReads}`));
  return undefined;
}
