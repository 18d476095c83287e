import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { pageHeaders } from "../../process/http/static-pages.ts";

/** The OpenAPI document of all routes registered after this, as JSON at `/docs/json` and as a page at `/docs`. */
export async function serveDocs(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      // The page takes twice as long to open a document of 3.1, and fewer programs read one.
      openapi: "3.0.3",
      info: {
        title: "moor records",
        version: "1",
        description:
          "The DNS record service, through two APIs. Calls under /api/v1 carry a token in the header Auth-API-Token, " +
          "calls under /v1 the same as Authorization: Bearer.",
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
        { name: "records", description: "The v1 API: single records, one at a time or many" },
        { name: "primary servers", description: "The v1 API: where secondary zones come from" },
        { name: "dyndns2", description: "What routers speak" },
        { name: "hosted zones", description: "The rrsets API: zones" },
        { name: "record sets", description: "The rrsets API: all records of a name and type" },
        { name: "changes", description: "The rrsets API: many changes at once, and what was changed" },
        { name: "grants", description: "The rrsets API: who else may create zones inside or above a zone" },
        { name: "actions", description: "The rrsets API: what was asked for and became of it" },
      ],
    },
    transformObject: (made) => ("openapiObject" in made ? withMeanings(made.openapiObject) : made.swaggerObject),
  });
  await server.register(swaggerUi, {
    routePrefix: "/docs",
    theme,
    uiHooks: {
      onRequest: (_request, reply, next) => {
        reply.headers(pageHeaders);
        next();
      },
    },
  });
}

/** Without the bar of the page's own makers, whose field would only show other documents. */
const theme = {
  title: "moor records: its API",
  css: [{ filename: "moor.css", content: ".swagger-ui .topbar { display: none }" }],
};

type Document = { readonly paths?: Readonly<Record<string, object | undefined>> | undefined };
type Answers = Record<string, { description?: string }>;

/** What no route says itself about an answer. */
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
  201: "Done: what was made or changed, and the action",
  204: "Done: there is nothing more to say",
  400: "The body is not JSON",
  401: "The token is missing or not good",
  403: "The token may not do this",
  404: "There is no such thing, or the token may not see it",
  413: "The body is too large",
  422: "Refused: the error says why",
  429: "Too many calls: Retry-After says when to come again",
  500: "The service failed: the error has an id to look for in its log",
  503: "Not possible now: Retry-After says when to come again",
  "4XX": "Not done: the error's code and message say why",
  "5XX": "Failed, or not possible now: then Retry-After says when to come again",
};
