import type { FastifySchema } from "fastify";
import { Type } from "typebox";
import { RrsetsError } from "../../contract/rrsets.ts";

/** Adds to the description of a route what all of them have in common, for the OpenAPI document. */
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
  t: { description: "its type" },
  g: { description: "the grant's id" },
};

/** What every POST takes. */
const onceHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      description:
        "1 to 255 characters: the same request with the same key counts once within 24 hours, and is given the same answer " +
        "again; not in the original API",
    }),
  ),
});
