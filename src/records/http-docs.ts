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
        description: "The DNS record service. Every call carries a token in the header Auth-API-Token.",
      },
      components: {
        securitySchemes: {
          token: { type: "apiKey", in: "header", name: "Auth-API-Token" },
          basic: { type: "http", scheme: "basic", description: "a token as the password" },
        },
      },
      security: [{ token: [] }],
      tags: [{ name: "zones" }, { name: "records" }, { name: "primary servers" }, { name: "dyndns2" }],
    },
  });
  await server.register(swaggerUi, { routePrefix: "/docs" });
}
