import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { type PlainAnswer, zipAnswer } from "../../../lib/http/plain-request.ts";
import { createStaticPages, pageHeaders } from "../../../lib/http/static-pages.ts";

/** The OpenAPI document of all routes registered after this, as JSON at `/docs/json` and as a page at `/docs`. */
export async function serveDocs(server: FastifyInstance, pages: string | undefined): Promise<void> {
  await server.register(swagger, {
    openapi: {
      // With 3.1 the page takes twice as long to open, and fewer programs can read the document.
      openapi: "3.0.3",
      info: {
        title: "moor records",
        version: "1",
        description:
          "The DNS record service has two APIs, and supports dyndns2. Calls of the v1 API, under /api/v1, send a token in the header " +
          "Auth-API-Token; calls of the rrsets API, under /v1, send the same token as Authorization: Bearer.",
        license: { name: "MIT" },
      },
      servers: [{ url: "/", description: "the service that serves this document" }],
      components: {
        securitySchemes: {
          token: { type: "apiKey", in: "header", name: "Auth-API-Token" },
          bearer: { type: "http", scheme: "bearer", description: "a token, for the paths under /v1" },
          basic: { type: "http", scheme: "basic", description: "a token as the password" },
        },
      },
      security: [{ token: [] }],
      tags: [
        { name: "zones", description: "The v1 API: zones and zone files" },
        { name: "records", description: "The v1 API: records, one at a time or in bulk" },
        { name: "primary servers", description: "The v1 API: the primary servers of secondary zones" },
        { name: "dyndns2", description: "The update protocol of most routers" },
        { name: "ACME challenges", description: "httpreq and acme-dns, for programs that get certificates" },
        { name: "hosted zones", description: "The rrsets API: zones" },
        { name: "record sets", description: "The rrsets API: all records of a name and type" },
        { name: "changes", description: "The rrsets API: many changes in one transaction, and the history of changes" },
        { name: "grants", description: "The rrsets API: who else may create zones inside or above a zone" },
        { name: "dnssec", description: "The rrsets API: signing a zone, and its DS record" },
        { name: "providers", description: "The rrsets API: zones that are published at a provider" },
        { name: "actions", description: "The rrsets API: writes and their outcome" },
      ],
    },
    transformObject: (made) => ("openapiObject" in made ? withMeanings(made.openapiObject) : made.swaggerObject),
  });
  const page = createStaticPages({ page: "docs", isPage: () => true, folder: pages });
  for (const path of ["/docs", "/docs/"]) {
    server.get(path, hidden, async (_request, reply) => {
      const answer = await page("/docs", undefined);
      return reply
        .code(answer?.status ?? 404)
        .headers(answer?.headers ?? {})
        .send(answer?.body);
    });
  }
  serveDocument(server, "/docs/json", "application/json; charset=utf-8", () => JSON.stringify(server.swagger()));
  serveDocument(server, "/docs/yaml", "application/x-yaml", () => server.swagger({ yaml: true }));
}

const hidden = { schema: { hide: true } };

/** Printed and compressed once: both take milliseconds, and anybody may request it. */
function serveDocument(server: FastifyInstance, path: string, type: string, print: () => string): void {
  let printed: PlainAnswer | undefined;
  let zipped: ReturnType<typeof zipAnswer> | undefined;
  server.get(path, hidden, async (request, reply) => {
    printed ??= { status: 200, headers: { ...pageHeaders, "content-type": type }, body: print() };
    zipped ??= zipAnswer(printed, "gzip");
    const { headers, body } = request.headers["accept-encoding"]?.includes("gzip") ? await zipped : printed;
    return reply.headers(headers).send(body);
  });
}

type Document = { readonly paths?: Readonly<Record<string, object | undefined>> | undefined };
type Answers = Record<string, { description?: string }>;

/** Describes the answers that a route does not describe itself. */
function withMeanings<Made extends Document>(document: Made): Made {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path ?? {}));
  for (const { responses = {} } of operations as readonly { readonly responses?: Answers }[]) {
    for (const [status, answer] of Object.entries(responses)) {
      if (answer.description === "Default Response") answer.description = meanings[status] ?? answer.description;
    }
  }
  return document;
}

const meanings: Readonly<Record<string, string>> = {
  200: "Done",
  201: "Done: the new or changed object, and the action",
  204: "Done: the answer has no body",
  400: "The body is not JSON",
  401: "The token is missing or invalid",
  403: "The token does not allow this",
  404: "Not found, or not visible to this token",
  413: "The body is too large",
  422: "Refused: the error says why",
  429: "Too many calls: Retry-After says when to try again",
  500: "Internal error: the message has an id to look for in the service log",
  503: "Temporarily unavailable: Retry-After says when to try again",
  "4XX": "Not done: the error's code and message say why",
  "5XX": "Internal error, or temporarily unavailable: then Retry-After says when to try again",
};
