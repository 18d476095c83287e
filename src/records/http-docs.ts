import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";

/** The OpenAPI document of all routes registered after this, as JSON at `/docs/json` and as a page at `/docs`. */
export async function serveDocs(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "moor records",
        version: "1",
        description:
          "The DNS record service, through two APIs. Calls under /api/v1 carry a token in the header Auth-API-Token, " +
          "calls under /v1 the same as Authorization: Bearer.",
        license: { name: "MIT", identifier: "MIT" },
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
        { name: "actions", description: "The rrsets API: what was asked for and became of it" },
      ],
    },
  });
  await server.register(swaggerUi, { routePrefix: "/docs" });
}
