import type { FastifySchema, HTTPMethods } from "fastify";
import { BadJsonAnswer, GatewayAnswer, InternalAnswer } from "../../contract/records-v1.ts";

type Route = { readonly method: HTTPMethods | HTTPMethods[]; readonly url: string; schema?: FastifySchema };

/** Adds to the description of a route what all of them have: a name, and the answers that come before its handler. */
export function describeRoute(route: Route): void {
  const { schema = {} } = route;
  const method = String(route.method);
  const unread = schema.body === undefined ? {} : { 400: BadJsonAnswer, 413: GatewayAnswer };
  const response = { ...unread, 401: GatewayAnswer, 429: GatewayAnswer, 500: InternalAnswer, 503: InternalAnswer };
  route.schema = Object.assign({}, schema, {
    operationId: operationId(method, route.url),
    response: { ...response, ...(schema.response as object | undefined) },
  });
}

/** `PUT /api/v1/zones/:id` becomes `v1-put-zones-id`. */
const operationId = (method: string, url: string): string =>
  ["v1", method.toLowerCase(), ...url.replace("/api/v1", "").split("/").filter(Boolean)].join("-").replaceAll(":", "");
