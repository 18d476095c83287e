import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../process/log.ts";
import type { KeyStore } from "../access/keys.ts";
import type { EndpointName } from "../access/privileges.ts";
import { pathOf, resolveEndpoint } from "../access/resolve-endpoint.ts";
import * as answers from "./answers.ts";
import { createAuthorising } from "./authorise.ts";
import type { EndpointHandler } from "./call.ts";

export type ApiOptions = {
  readonly keys: Pick<KeyStore, "check" | "whyRefused">;
  readonly endpoints: Readonly<Record<EndpointName, EndpointHandler>>;
  readonly log: Logger;
  readonly now: () => Date;
};

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Answers every request; never rejects. Methods and bodies are ignored unless an endpoint uses them. */
export function createApi(options: ApiOptions): Handler {
  const answerTo = createAnswering(options);
  return async (request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answer = await answerTo(request, response, gone.signal);
    if (answer !== "taken" && !response.destroyed) send(response, answer);
  };
}

function createAnswering({ keys, endpoints, log, now }: ApiOptions) {
  const authorise = createAuthorising(keys, log, now);
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<answers.FirewallAnswer | "taken"> => {
    const url = request.url ?? "";
    if (lacksLength(request)) return answers.lengthRequired;
    if (pathOf(url) === "/") return answers.welcome;
    const target = resolveEndpoint(url);
    if (target.kind === "api-root") return answers.apiRootForbidden;
    if (target.kind === "not-found") return answers.notFound;
    const endpoint = target.name;
    try {
      const from = request.socket.remoteAddress ?? "";
      const { authorization } = request.headers;
      const authorised = await authorise({ url, authorization, endpoint, from, gone });
      if (authorised.kind === "refused") return authorised.answer;
      if (isJsonWithoutBody(request)) return answers.invalidJson;
      const { parameters } = target;
      return await endpoints[endpoint]({ key: authorised.key, from, parameters, request, response });
    } catch (error) {
      if (!gone.aborted) log.error({ endpoint, err: error }, "call failed");
      return answers.unexpected;
    }
  };
}

function send(response: ServerResponse, answer: answers.FirewallAnswer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(answer.status, {
    ...answer.headers,
    "content-type": answer.contentType,
    "content-length": Buffer.byteLength(answer.body),
  });
  response.end(answer.body);
}

const hasNoBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;

/** OPNsense's web server requires a length before it passes on a POST. */
const lacksLength = ({ method, headers, httpVersion }: IncomingMessage): boolean =>
  method === "POST" &&
  httpVersion === "1.1" &&
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined;

/** A GET with a JSON content type and no body: OPNsense treats the missing body as invalid JSON. */
const isJsonWithoutBody = (request: IncomingMessage): boolean =>
  (request.method === "GET" || request.method === "HEAD") &&
  /^application\/json *(?:;|$)/i.test(request.headers["content-type"] ?? "") &&
  hasNoBody(request);
