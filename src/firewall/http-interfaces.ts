import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../process/log.ts";
import * as answers from "./answers.ts";
import { readCredentials } from "./basic-credentials.ts";
import { createHoldBack } from "./hold-back.ts";
import type { KeyStore } from "./keys.ts";
import { mayCall } from "./privileges.ts";
import { type EndpointName, pathOf, resolveEndpoint } from "./resolve-endpoint.ts";

export type InterfacesOptions = {
  readonly keys: Pick<KeyStore, "check">;
  /** The report as JSON text; rejects when the kernel could not be read. */
  readonly readReport: () => Promise<string>;
  readonly log: Logger;
};

/** A wrong key or secret costs two seconds. */
const guessing = { delay: 2_000, most: 1_000 };

/**
 * Answers every request that no other route takes. In `onRequest`, before Fastify looks at a body: the original ignores
 * bodies, broken ones too, and answers all methods alike.
 */
export function serveInterfaces(server: FastifyInstance, options: InterfacesOptions): void {
  const answerTo = createAnswering(options);
  server.setNotFoundHandler((_, reply) => send(reply, answers.notFound));
  server.addHook("onRequest", async (request, reply) => {
    if (!request.is404) return;
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    return send(reply, await answerTo(request, gone.signal));
  });
}

function createAnswering({ keys, readReport, log }: InterfacesOptions) {
  const holdBack = createHoldBack(guessing);

  /** The key's caller may go on, or this is the answer. */
  const refusal = async (request: FastifyRequest, endpoint: EndpointName, gone: AbortSignal) => {
    const credentials = readCredentials(request.headers.authorization);
    if (credentials.kind === "missing") return answers.authenticationMissing(pathOf(request.url));
    if (credentials.kind === "unusable") return answers.authenticationFailed;
    const key = keys.check(credentials.key, credentials.secret);
    if (key === undefined) {
      log.warn({ from: request.ip, endpoint }, "call refused: unknown key or wrong secret");
      await holdBack(gone);
      return answers.authenticationFailed;
    }
    if (mayCall(key.privileges, endpoint)) return undefined;
    log.warn({ from: request.ip, endpoint, name: key.name }, "call refused: the key lacks the privilege");
    return answers.forbidden;
  };

  const endpoints: Readonly<Record<EndpointName, () => Promise<answers.Answer>>> = {
    "diagnostics/interface/get_interface_config": async () => answers.report(await readReport()),
  };

  return async (request: FastifyRequest, gone: AbortSignal): Promise<answers.Answer> => {
    if (lacksLength(request)) return answers.lengthRequired;
    if (pathOf(request.url) === "/") return answers.welcome;
    const target = resolveEndpoint(request.url);
    if (target.kind === "api-root") return answers.apiRootForbidden;
    if (target.kind === "not-found") return answers.notFound;
    try {
      const refused = await refusal(request, target.name, gone);
      if (refused !== undefined) return refused;
      return isJsonWithoutBody(request) ? answers.invalidJson : await endpoints[target.name]();
    } catch (error) {
      log.error({ endpoint: target.name, err: error }, "call failed");
      return answers.unexpected;
    }
  };
}

function send(reply: FastifyReply, { status, contentType, body, headers = {} }: answers.Answer): FastifyReply {
  return reply.code(status).headers(headers).header("content-type", contentType).send(body);
}

/** The original's web server wants to know how long a POST is before it passes it on. */
const lacksLength = ({ method, headers, raw }: FastifyRequest): boolean =>
  method === "POST" &&
  raw.httpVersion === "1.1" &&
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined;

/** A GET that announces JSON and sends none: the original reads the missing body as broken JSON. */
const isJsonWithoutBody = ({ method, headers }: FastifyRequest): boolean =>
  (method === "GET" || method === "HEAD") &&
  /^application\/json *(?:;|$)/i.test(headers["content-type"] ?? "") &&
  Number(headers["content-length"] ?? 0) === 0 &&
  headers["transfer-encoding"] === undefined;
