import { Type } from "typebox";
import { RrsetsError } from "../../contract/rrsets.ts";

/** What the routes of the record-set API have in common, for the OpenAPI document. */
export const zoneParams = Type.Object({ z: Type.String({ description: "a zone's id or name" }) });

export const setParams = Type.Object({
  z: Type.String({ description: "a zone's id or name" }),
  n: Type.String({ description: "the name of the set, relative to the zone" }),
  t: Type.String({ description: "its type" }),
});

/** What every POST takes. */
export const onceHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      description:
        "1 to 255 characters: the same request with the same key counts once within 24 hours, and is given the same answer " +
        "again; not in the original API",
    }),
  ),
});

export const errors = { "4xx": RrsetsError, "5xx": RrsetsError };
