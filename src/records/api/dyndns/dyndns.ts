import { parse } from "node:querystring";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { takeCall } from "../../../lib/limits/rate-limit.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { HostOutcome } from "../../commands/requests.ts";
import type { RecordService } from "../../service.ts";
import { authenticate } from "../shared/authenticate.ts";
import { passwordOf } from "../shared/basic-password.ts";
import { createFailureNotes, type FailedRequest } from "../shared/failed-requests.ts";
import type { RecordApiOptions } from "../shared/set-up-api.ts";
import { readDyndns } from "./read-request.ts";

export type DyndnsOptions = Omit<RecordApiOptions, "service"> & { readonly service: Pick<RecordService, "pointHosts"> };

const paths = ["/nic/update", "/update", "/v3/update"].flatMap((path) => [path, `${path}/`]);

/** Some clients post a form. */
const bodyLimit = 16 * 1024;

const schema = {
  tags: ["dyndns2"],
  summary: "Point host names at addresses, as routers do",
  description:
    "HTTP Basic with a token as the password; the user name is ignored. A POST may send the parameters as a form. " +
    "The answer has one line per host name (good, nochg, notfqdn, nohost) or one line for all of them (badauth, abuse, !donator, 911 with the reason).",
  security: [{ basic: [] }],
  querystring: Type.Object({
    hostname: Type.String({
      description:
        "fully qualified names, separated by commas; each must already have A or AAAA records, unless the token is for this name in this zone",
    }),
    myip: Type.Optional(Type.String({ description: "one address of each family; default: the caller's address" })),
    offline: Type.Optional(Type.String({ description: "YES is answered with !donator: hosts cannot be set offline" })),
    myipv6: Type.Optional(
      Type.String({
        description:
          "an IPv6 address, or a prefix such as 2001:db8:1::/64 that replaces the prefix of the host's addresses",
      }),
    ),
  }),
  response: {
    200: { description: "One line per host name", content: { "text/plain": { schema: Type.String() } } },
    401: { description: "badauth", content: { "text/plain": { schema: Type.String() } } },
    429: { description: "abuse", content: { "text/plain": { schema: Type.String() } } },
    "5XX": { description: "911", content: { "text/plain": { schema: Type.String() } } },
  },
};

/** The dyndns2 protocol, at the paths that are hard-coded in clients. */
export function dyndnsApi(options: DyndnsOptions) {
  return async (api: FastifyInstance): Promise<void> => {
    // dyndns-request.ts validates the parameters; the schema only documents them.
    api.setValidatorCompiler(() => () => true);
    api.setSerializerCompiler(() => String);
    api.removeAllContentTypeParsers();
    api.addContentTypeParser("*", { parseAs: "string", bodyLimit }, (_request, body, done) =>
      done(null, parse(body.toString())),
    );
    const noteFailure = createFailureNotes(options.log, options.now);
    api.setErrorHandler((error: FailedRequest, { id }, reply) => {
      const { statusCode = 500 } = error;
      if (statusCode < 500) return sendLine(reply.code(statusCode), `911 ${error.message}`);
      noteFailure(error, id);
      reply.code(500).header("x-request-id", id);
      if (!(error instanceof StoreBusy)) return sendLine(reply, `911 the service failed; its log has request ${id}`);
      reply.code(503).header("retry-after", error.retryAfter);
      return sendLine(reply, `911 the service is busy: ${error.message}; try again in ${error.retryAfter} seconds`);
    });
    for (const path of paths) {
      const operationId = `dyndns2${path.replaceAll("/", "-")}`;
      const hide = path.endsWith("/");
      const handler = async (request: FastifyRequest, reply: FastifyReply) => await answer(options, request, reply);
      // This GET writes, but a HEAD must not.
      api.get(path, { schema: { ...schema, operationId, hide }, exposeHeadRoute: false }, handler);
      api.post(path, { schema: { ...schema, operationId: `${operationId}-post`, hide } }, handler);
    }
  };
}

async function answer(options: DyndnsOptions, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { store, service, limits } = options;
  const now = options.now();
  const secret = passwordOf(request.headers.authorization);
  const actor = secret === undefined ? undefined : await authenticate(store, secret, request, now);
  if (actor === undefined) return sendLine(reply.code(401).header("www-authenticate", 'Basic realm="moor"'), "badauth");
  const retryAfter = (await takeCall(limits, actor, request.ip, now))?.retryAfter;
  if (retryAfter !== undefined) return sendLine(reply.code(429).header("retry-after", String(retryAfter)), "abuse");
  const dyndnsRequest = readDyndns({ ...(request.body ?? {}), ...(request.query ?? {}) }, request.ip);
  switch (dyndnsRequest.kind) {
    case "no-host":
      return sendLine(reply, "notfqdn");
    case "too-many-hosts":
      return sendLine(reply, "numhost");
    case "offline":
      // The protocol's answer of a service that has no page for hosts that are offline. Nothing is written.
      return sendLine(reply, "!donator");
    case "no-address":
      return sendLine(reply, `911 ${dyndnsRequest.reason}`);
    case "update": {
      const outcomes = await service.pointHosts(actor, dyndnsRequest.hosts, dyndnsRequest.wanted);
      return sendLine(reply, outcomes.map(lineOf).join("\n"));
    }
    default:
      return dyndnsRequest satisfies never;
  }
}

function lineOf(outcome: HostOutcome): string {
  switch (outcome.kind) {
    case "changed":
      return `good ${outcome.addresses.join(",")}`;
    case "unchanged":
      return `nochg ${outcome.addresses.join(",")}`.trimEnd();
    case "not-a-full-name":
      return "notfqdn";
    case "unknown":
      return "nohost";
    case "read-only":
      return "badauth";
    case "refused":
      return `911 ${outcome.reason}`;
    default:
      return outcome satisfies never;
  }
}

const sendLine = (reply: FastifyReply, line: string): FastifyReply =>
  reply.type("text/plain; charset=utf-8").send(`${line}\n`);
