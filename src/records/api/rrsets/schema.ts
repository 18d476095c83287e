import type { FastifySchema } from "fastify";
import { Type } from "typebox";
import { RrsetsError } from "../../../contract/rrsets.ts";

/** Adds what all routes have in common to a route's OpenAPI description. */
export function describeRoute(method: string, path: string, schema: FastifySchema): FastifySchema {
  const words = path.split("/").filter(Boolean);
  const names = words.filter((word) => word.startsWith(":")).map((word) => word.slice(1));
  const params = Type.Object(Object.fromEntries(names.map((name) => [name, Type.String(parameters[name])])));
  return Object.assign({}, schema, {
    ...(names.length > 0 && { params }),
    ...(method === "POST" && { headers: onceHeaders }),
    response: { ...(schema.response as object | undefined), "4xx": RrsetsError, "5xx": RrsetsError },
    security: [{ bearer: [] }],
    operationId: ["rrsets", method.toLowerCase(), ...words].join("-").replaceAll(":", ""),
  });
}

const parameters: Readonly<Record<string, { readonly description: string }>> = {
  z: { description: "a zone's id or name" },
  n: { description: "the name of the set, relative to the zone" },
  t: { description: "the record type of the set" },
  g: { description: "the grant's id" },
  p: { description: "a provider's name or id" },
};

/** Every POST accepts this. */
const onceHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      description:
        "1 to 255 characters; a request repeated with the same key within 24 hours is carried out once and gets the same " +
        "answer; not in the original API",
    }),
  ),
});
