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
      },
      components: {
        securitySchemes: {
          token: { type: "apiKey", in: "header", name: "Auth-API-Token" },
          bearer: { type: "http", scheme: "bearer", description: "a token, for the paths under /v1" },
          basic: { type: "http", scheme: "basic", description: "a token as the password" },
        },
      },
      security: [{ token: [] }],
      tags: [
        { name: "zones" },
        { name: "records" },
        { name: "primary servers" },
        { name: "dyndns2" },
        { name: "hosted zones" },
        { name: "record sets" },
        { name: "changes" },
        { name: "actions" },
      ],
    },
  });
  await server.register(swaggerUi, { routePrefix: "/docs" });
}
