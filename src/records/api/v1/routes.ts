import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods } from "fastify";
import { Type } from "typebox";
import { BadJsonAnswer, GatewayAnswer, InternalAnswer } from "../../../contract/records-v1.ts";
import { largestZoneFile } from "../../../contract/rrsets-limits.ts";
import type { Instant } from "../../../core/instant.ts";
import { whenKnown } from "../../../core/maybe-later.ts";
import { type Quota, takeCall } from "../../../lib/limits/rate-limit.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import { AccessEnded } from "../../store/port.ts";
import { admitBody, hasLargeBody, hook, leaveBody, parseBody } from "../shared/admit-body.ts";
import { actorOfSecret, authenticate } from "../shared/authenticate.ts";
import { type FailedRequest, failureText, type NoteFailure } from "../shared/failed-requests.ts";
import { type RecordApiOptions, setUpApi } from "../shared/set-up-api.ts";
import { bulkRoutes } from "./bulk.ts";
import { deniedBody } from "./errors.ts";
import { primaryServerRoutes } from "./primary-servers.ts";
import { recordRoutes } from "./records.ts";
import { zoneFileRoutes } from "./zone-file.ts";
import { zoneRoutes } from "./zones.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The handler gets the body unparsed. */
    rawBody?: boolean;
    /** The body is only checked, so a read-only token may send it. */
    storesNothing?: boolean;
  }
}

/** The v1 API; register it under `/api/v1`. Transport rules are here, resources in the route files. */
export function v1Api(options: RecordApiOptions) {
  const { service } = options;
  return async (api: FastifyInstance): Promise<void> => {
    const refuse = (reply: FastifyReply) => sendGateway(reply, 401, wrongToken);
    const noteFailure = setUpApi(
      api,
      options,
      { read: readBody, largest: largestZoneFile },
      {
        isStillValid: (request) => whenKnown(actorFor(options, request, actorOfSecret), (actor) => actor !== undefined),
        refuse,
      },
    );
    api.setSerializerCompiler(() => jsonLine);
    api.addHook(
      "onRequest",
      hook((request, reply) => admit(options, request, reply)),
    );
    api.setErrorHandler((error, _request, reply) =>
      error instanceof AccessEnded ? refuse(reply) : sendError(error as FailedRequest, reply, noteFailure),
    );
    api.setNotFoundHandler(sendNoRoute);
    api.addHook("onRoute", describeRoute);
    zoneRoutes(api, service);
    zoneFileRoutes(api, service);
    recordRoutes(api, service);
    bulkRoutes(api, service);
    primaryServerRoutes(api, service);
  };
}

/** Compact, with a newline at the end: some clients parse it with `grep`. */
const jsonLine = (body: unknown): string => `${JSON.stringify(body)}\n`;

/** Admits a request with a valid token that is within its rate limit. */
function admit(options: RecordApiOptions, request: FastifyRequest, reply: FastifyReply): object | undefined {
  reply.headers(forBrowsers);
  if (request.method === "OPTIONS") return reply.code(204).headers(preflight).send();
  return whenKnown(actorFor(options, request, authenticate), (actor) => admitActor(options, request, reply, actor));
}

function admitActor(
  options: RecordApiOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  actor: Actor | undefined,
): object | undefined {
  if (actor === undefined) {
    leaveBody(request, reply);
    const isMissing = secretOf(request) === undefined;
    return sendGateway(reply, 401, isMissing ? "No API key found in request" : wrongToken);
  }
  request.actor = actor;
  const now = options.now();
  return whenKnown<Quota | undefined, object | undefined>(takeCall(options.limits, actor, request.ip, now), (quota) => {
    if (quota !== undefined) reply.headers(quotaHeaders(quota, now));
    if (quota?.retryAfter !== undefined) {
      return sendGateway(reply.header("retry-after", String(quota.retryAfter)), 429, "API rate limit exceeded");
    }
    // The routes would refuse it too, with better messages for small mistakes, but only after reading the body.
    if (actor.scope.access === "read" && mayStore(request) && hasLargeBody(request))
      return sendGateway(reply, 403, deniedBody("read-only").message);
    return admitBody(request, reply, readBody, options.service.schedule);
  });
}

const wrongToken = "Invalid authentication credentials";

function secretOf({ headers }: FastifyRequest): string | undefined {
  const secret = headers["auth-api-token"];
  return typeof secret === "string" && secret !== "" ? secret : undefined;
}

function actorFor({ store, now }: RecordApiOptions, request: FastifyRequest, find: typeof authenticate) {
  const secret = secretOf(request);
  return secret === undefined ? undefined : find(store, secret, request, now());
}

const mayStore = ({ method, routeOptions }: FastifyRequest): boolean =>
  method !== "GET" && method !== "HEAD" && routeOptions.config.storesNothing !== true;

const forBrowsers = { "access-control-allow-origin": "*", vary: "Origin" };
const preflight = {
  "access-control-allow-methods": "OPTIONS,GET,POST,PUT,DELETE",
  "access-control-allow-headers": "X-Requested-With,Auth-API-Token,Content-Type",
  "access-control-max-age": "86400",
};

/** The reset is in seconds from now. An epoch time would stall clients that wait for that many seconds. */
function quotaHeaders({ limit, remaining, fullAt }: Quota, now: Instant) {
  return {
    "ratelimit-limit": limit,
    "ratelimit-remaining": remaining,
    "ratelimit-reset": Math.ceil((fullAt - now) / 1000),
    "x-ratelimit-limit-minute": limit,
    "x-ratelimit-remaining-minute": remaining,
  };
}

const sendGateway = (reply: FastifyReply, status: number, message: string) =>
  reply.code(status).type("application/json; charset=utf-8").send(jsonLine({ message }));

/** Parses JSON whatever the content type, even without one. Ignores a body where it has no meaning. */
function readBody(request: FastifyRequest, body: Buffer): unknown {
  if (request.method !== "POST" && request.method !== "PUT") return undefined;
  return request.routeOptions.config.rawBody ? body : parseBody(body);
}

function sendError(error: FailedRequest, reply: FastifyReply, noteFailure: NoteFailure): FastifyReply {
  const status = error instanceof StoreBusy ? 503 : (error.statusCode ?? 500);
  reply.code(status).type("application/json; charset=utf-8");
  if (status < 500) reply.server.noteRefused(reply);
  if (status === 400) return reply.send(jsonLine({ error: "json not valid" }));
  if (status < 500) return reply.send(jsonLine({ message: error.message }));
  const { id } = reply.request;
  reply.header("x-request-id", id);
  noteFailure(error, id);
  if (error instanceof StoreBusy) reply.header("retry-after", error.retryAfter);
  return reply.send(jsonLine({ error: { message: failureText(error, id), code: status } }));
}

/** For paths outside the API, which need no token. Inside the API, unknown paths need one like any other. */
export function sendNoRoute(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).type("text/plain; charset=utf-8").send("404 page not found");
}

type Route = { readonly method: HTTPMethods | HTTPMethods[]; readonly url: string; schema?: FastifySchema };

/** Adds what all routes have in common to a route's OpenAPI description. */
function describeRoute(route: Route): void {
  const { schema = {}, url } = route;
  const unread = schema.body === undefined ? {} : { 400: BadJsonAnswer, 413: GatewayAnswer };
  const response = { ...unread, 401: GatewayAnswer, 429: GatewayAnswer, 500: InternalAnswer, 503: InternalAnswer };
  const words = url.replace("/api/v1", "").split("/").filter(Boolean);
  route.schema = Object.assign({}, schema, {
    ...(words.includes(":id") && { params: Type.Object({ id: Type.String() }) }),
    operationId: ["v1", String(route.method).toLowerCase(), ...words].join("-").replaceAll(":", ""),
    response: { ...response, ...(schema.response as object | undefined) },
  });
}
