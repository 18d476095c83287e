import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from "fastify";
import { Type } from "typebox";
import { RrsetsError } from "../../../contract/rrsets.ts";
import { largestZoneFile } from "../../../contract/rrsets-limits.ts";
import { whenKnown } from "../../../core/maybe-later.ts";
import { type Quota, takeCall } from "../../../lib/limits/rate-limit.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { OverQuota } from "../../model.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import { AccessEnded } from "../../store/port.ts";
import { admitBody, hook, leaveBody, parseBody } from "../shared/admit-body.ts";
import { actorOfSecret, authenticate, withConfirm } from "../shared/authenticate.ts";
import { type FailedRequest, failureText, type NoteFailure } from "../shared/failed-requests.ts";
import { type RecordApiOptions, setUpApi } from "../shared/set-up-api.ts";
import { rrsetsActionRoutes } from "./actions.ts";
import { sendError } from "./answer.ts";
import { rrsetsChangeRoutes } from "./changes.ts";
import { rrsetsDnssecRoutes } from "./dnssec.ts";
import { deniedAnswer, type ErrorAnswer, errorAnswer } from "./errors.ts";
import { rrsetsEventRoutes } from "./events.ts";
import { rrsetsProviderRoutes, rrsetsPublicationRoutes } from "./front.ts";
import { rrsetsGrantRoutes } from "./grants.ts";
import { rrsetsSetActionRoutes, rrsetsSetRoutes } from "./sets.ts";
import { rrsetsZoneActionRoutes, rrsetsZoneRoutes } from "./zones.ts";

export type RrsetsOptions = RecordApiOptions & {
  /** For requests without a token: the user signed in to the console, if the console's own page sent the request. */
  readonly signedIn?: (request: FastifyRequest) => Promise<Actor | undefined>;
  /** In bytes, of a zone file; absent: as for everybody. */
  readonly largestBody?: number;
  /** Event streams: milliseconds between heartbeats, and the time a reader has to accept data. */
  readonly events?: { readonly heartbeat?: number; readonly patience?: number; readonly streams?: { open: number } };
};

/** The record-set API; register it under `/v1`. Transport rules are here, resources in the route files. */
export function rrsetsApi(options: RrsetsOptions) {
  const { service, store } = options;
  return async (api: FastifyInstance): Promise<void> => {
    const actorNow = async (request: FastifyRequest) => await actorFor(options, request, actorOfSecret);
    const refuse = (reply: FastifyReply) => sendRaw(reply, unknownToken);
    const noteFailure = setUpApi(
      api,
      options,
      { read: readJson, largest: options.largestBody ?? largestZoneFile },
      {
        isStillValid: (request) => whenKnown(actorFor(options, request, actorOfSecret), (actor) => actor !== undefined),
        refuse,
      },
    );
    api.decorate("shownIdsFor", service.shownIdsFor);
    api.setSerializerCompiler(() => spacedJson);
    // Also for statuses without a schema.
    api.setReplySerializer(spacedJson);
    api.addHook(
      "onRequest",
      hook((request, reply) => admit(options, request, reply)),
    );
    api.setErrorHandler((error, _request, reply) =>
      error instanceof AccessEnded ? refuse(reply) : sendFailure(error as FailedRequest, reply, noteFailure),
    );
    api.setNotFoundHandler((_request, reply) => sendRaw(reply, noRoute));
    const routes: Route[] = [];
    api.addHook("onRoute", (route) => noteRoute(route, routes));
    rrsetsZoneRoutes(api, service);
    rrsetsZoneActionRoutes(api, service);
    rrsetsActionRoutes(api, service);
    rrsetsSetRoutes(api, service);
    rrsetsSetActionRoutes(api, service);
    rrsetsChangeRoutes(api, service);
    rrsetsGrantRoutes(api, service);
    rrsetsDnssecRoutes(api, service);
    rrsetsProviderRoutes(api, service);
    rrsetsPublicationRoutes(api, service);
    const stillGood = async (request: FastifyRequest) => (await actorFor(options, request)) !== undefined;
    rrsetsEventRoutes(api, { service, store, stillGood, actorNow, noteFailure, ...options.events });
    refuseOtherMethods(api, routes);
  };
}

/** Indented as in the original: some scripts parse it line by line with `grep`. */
const spacedJson = (body: unknown): string => JSON.stringify(body, null, 4);

/**
 * Admits a request whose token is valid for this method and within its rate limit. Other answers reveal nothing about
 * the service.
 */
function admit(options: RrsetsOptions, request: FastifyRequest, reply: FastifyReply): object | undefined {
  reply.headers(forBrowsers);
  if (request.method === "OPTIONS") return reply.code(204).headers(preflight).send();
  return whenKnown(actorFor(options, request), (actor) => admitActor(options, request, reply, actor));
}

function admitActor(
  options: RrsetsOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  actor: Actor | undefined,
): object | undefined {
  if (actor === undefined) {
    leaveBody(request, reply);
    return sendRaw(reply, unknownToken);
  }
  request.actor = actor;
  return whenKnown<Quota | undefined, object | undefined>(
    takeCall(options.limits, actor, request.ip, options.now()),
    (quota) => {
      const limited = sayLimit(quota, request, reply);
      if (limited) return sendRaw(reply, limited);
      const reads = request.method === "GET" || request.method === "HEAD";
      if (actor.scope.access === "read" && !reads)
        return sendRaw(reply, actor.session === undefined ? deniedAnswer("read-only") : readOnlySession);
      return admitBody(request, reply, readJson, options.service.schedule);
    },
  );
}

function actorFor({ store, now, signedIn }: RrsetsOptions, request: FastifyRequest, find = authenticate) {
  const { authorization, "auth-api-token": older } = request.headers;
  // lexicon sends its token in the header of the older API.
  const carried = authorization ?? (older === undefined ? undefined : `Bearer ${String(older)}`);
  if (carried === undefined) return signedIn?.(request).then((actor) => actor && withConfirm(actor, request));
  const secret = /^bearer +(\S{1,200})$/i.exec(carried)?.[1];
  return secret === undefined ? undefined : find(store, secret, request, now());
}

function sayLimit(quota: Quota | undefined, { id }: FastifyRequest, reply: FastifyReply): ErrorAnswer | undefined {
  reply.header("x-correlation-id", id);
  if (quota === undefined) return undefined;
  reply.headers({
    "ratelimit-limit": quota.limit,
    "ratelimit-remaining": quota.remaining,
    "ratelimit-reset": Math.ceil(quota.fullAt / 1000),
  });
  if (quota.retryAfter === undefined) return undefined;
  reply.header("retry-after", quota.retryAfter);
  return errorAnswer(429, "rate_limit_exceeded", "rate limit exceeded");
}

const forBrowsers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Link,X-Correlation-ID",
  vary: "Accept-Encoding",
};
const preflight = {
  "access-control-allow-methods": "OPTIONS,GET,POST,PUT,PATCH,DELETE",
  "access-control-allow-headers": "X-Requested-With,Authorization,Content-Type,Idempotency-Key,Last-Event-ID",
  "access-control-max-age": "86400",
};

/** For paths that are refused before they reach this API. */
export const sendNoPath = (reply: FastifyReply): FastifyReply => sendRaw(reply.headers(forBrowsers), noRoute);

/** Not 401 as for a token: the session is good, and signing in again would change nothing. */
const readOnlySession = errorAnswer(403, "forbidden", "you may look at everything here, but change nothing");
const unknownToken = errorAnswer(401, "unauthorized", "the token you have provided is invalid");
const noRoute = errorAnswer(404, "not_found", "there is no such path");
const notJson = errorAnswer(400, "json_error", "the body is not JSON");
const badBody = (message: string) =>
  errorAnswer(422, "invalid_input", message, { fields: [{ name: "body", messages: [message] }] });
const wrongMethod = errorAnswer(405, "method_not_allowed", "this method is not allowed here");

/** For answers before routing, when no serializer is set yet. */
const sendRaw = (reply: FastifyReply, { status, body }: ErrorAnswer): FastifyReply =>
  reply.code(status).type("application/json; charset=utf-8").send(spacedJson(body));

/** Ignores a body where it has no meaning; an empty body counts as none. */
function readJson({ method }: FastifyRequest, body: Buffer): unknown {
  return (method === "POST" || method === "PUT") && body.length > 0 ? parseBody(body) : undefined;
}

function sendFailure(error: FailedRequest, reply: FastifyReply, noteFailure: NoteFailure): FastifyReply {
  const status = error.statusCode ?? 500;
  if (status < 500) reply.code(status).server.noteRefused(reply);
  if (status === 400) return sendRaw(reply, notJson);
  if (error instanceof OverQuota) return sendRaw(reply, errorAnswer(403, "resource_limit_exceeded", error.message));
  if (status === 422) return sendRaw(reply, badBody(error.message));
  if (status < 500) return sendRaw(reply, errorAnswer(status, "invalid_input", error.message));
  const { id } = reply.request;
  reply.header("x-correlation-id", id);
  noteFailure(error, id);
  const message = failureText(error, id);
  if (!(error instanceof StoreBusy)) return sendRaw(reply, errorAnswer(500, "server_error", message));
  return sendRaw(reply.header("retry-after", error.retryAfter), errorAnswer(503, "unavailable", message));
}

type Route = { readonly path: string; readonly methods: readonly string[] };

function noteRoute(route: RouteOptions & { readonly routePath: string }, routes: Route[]): void {
  const { routePath: path, method } = route;
  routes.push({ path, methods: Array.isArray(method) ? method : [method] });
  // A copy, because the HEAD route shares this object.
  if (route.schema?.hide !== true) route.schema = describeRoute(String(method), path, route.schema ?? {});
}

const allMethods: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const inOrder = (a: string, b: string): number => allMethods.indexOf(a) - allMethods.indexOf(b);

/** Known paths answer other methods with 405; PATCH on a set is a 404, as in the original. */
function refuseOtherMethods(api: FastifyInstance, routes: readonly Route[]): void {
  for (const [url, routesOfPath] of Map.groupBy([...routes], (route) => route.path)) {
    const methods = routesOfPath.flatMap((route) => route.methods);
    const others = allMethods.filter((method) => !methods.includes(method));
    const method = url.endsWith("/:n/:t") ? others.filter((each) => each !== "PATCH") : others;
    if (method.length === 0) continue;
    const allow = [...new Set(methods)].toSorted(inOrder).join(", ");
    const handler = (_request: FastifyRequest, reply: FastifyReply) =>
      sendError(reply.header("allow", allow), wrongMethod);
    api.route({ method, url, schema: { hide: true }, handler });
  }
  api.options("/*", { schema: { hide: true } }, (_request, reply) => reply.code(204).send());
}

/** Adds what all routes have in common to a route's OpenAPI description. */
function describeRoute(method: string, path: string, schema: FastifySchema): FastifySchema {
  const words = path.split("/").filter(Boolean);
  const names = words.filter((word) => word.startsWith(":")).map((word) => word.slice(1));
  const params = Type.Object(Object.fromEntries(names.map((name) => [name, Type.String(parameters[name])])));
  return Object.assign({}, schema, {
    ...(names.length > 0 && { params }),
    ...(method === "POST" && { headers: onceHeaders }),
    response: { ...(schema.response as object | undefined), "4xx": RrsetsError, "5xx": RrsetsError },
    security: [{ bearer: [] }],
    operationId: ["rrsets", method.toLowerCase(), ...words].join("-").replaceAll(":", ""),
  });
}

const parameters: Readonly<Record<string, { readonly description: string }>> = {
  z: { description: "a zone's id or name" },
  n: { description: "the name of the set, relative to the zone" },
  t: { description: "the record type of the set" },
  g: { description: "the grant's id" },
  p: { description: "a provider's name or id" },
};

/** Every POST accepts this. */
const onceHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      description:
        "1 to 255 characters; a request repeated with the same key within 24 hours is carried out once and gets the same " +
        "answer; not in the original API",
    }),
  ),
});
